import type { FlowState } from '../engine/flow/snapshot.ts'
import type { Colours } from './print.ts'

export function flowColour(state: FlowState, colours: Colours): (text: string) => string {
  if (state === 'completed') return colours.green
  if (state === 'failed') return colours.red
  return state === 'cancelled' ? colours.gray : colours.cyan
}
