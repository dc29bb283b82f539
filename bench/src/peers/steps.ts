// A workflow of three steps that do nothing, fifty at a time: the cost of a durable step. Each contestant records every
// step before the next begins.
import type { Payload } from './payload.ts'

export const concurrency = 50
export const stepNames = ['one', 'two', 'three'] as const

export function stepResult({ sequence }: Payload, name: string): { name: string; sequence: number } {
  return { name, sequence }
}
