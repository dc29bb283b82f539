// What is the same in every run of a generation without being recorded.
import { createHash } from 'node:crypto'
import type { Claim } from '../engine/execution/claim.ts'
import type { InsideStep } from './inside-step.ts'

type Of = Pick<Claim, 'executionId' | 'generation'>

/** From the execution, its generation and how often it was asked. */
function drawOf({ executionId, generation }: Of, what: string, count: number): Buffer {
  return createHash('sha256').update(`${executionId} ${generation} ${what} ${count}`).digest()
}

/** Of a step that is recorded nothing runs again: so what is drawn inside of one counts for itself. */
export class Draws {
  readonly #of: Of
  #count = 0

  constructor(of: Of) {
    this.#of = of
  }

  draw(what: string, inside: InsideStep | undefined): Buffer {
    if (inside !== undefined) {
      inside.draws += 1
      return drawOf(this.#of, `${what} ${inside.idempotencyKey}`, inside.draws)
    }
    this.#count += 1
    return drawOf(this.#of, what, this.#count)
  }
}

/** Of a step; without an index, of an effect outside of any step, which has a name of its own. */
export function keyOf({ executionId, generation }: Of, name: string, index: number | null): string {
  return index === null ? `${executionId}:key:${generation}:${name}` : `${executionId}:${generation}:${name}:${index}`
}
