// The token of a waitpoint, for whoever has the right; every reading leaves an event.
import type { WaitpointId } from '../../model/id.ts'

export interface WaitpointToken {
  readonly waitpointId: WaitpointId
  readonly waitpointKey: string
  readonly token: string
}
