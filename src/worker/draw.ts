// What is the same in every run of a generation without being recorded.
import { createHash } from 'node:crypto'
import type { Claim } from '../engine/execution/claim.ts'

type Of = Pick<Claim, 'executionId' | 'generation'>

/** From the execution, its generation and how often it was asked. */
export function drawOf({ executionId, generation }: Of, what: string, count: number): Buffer {
  return createHash('sha256').update(`${executionId} ${generation} ${what} ${count}`).digest()
}

export function keyOf({ executionId, generation }: Of, name: string, index: number): string {
  return `${executionId}:${generation}:${name}:${index}`
}
