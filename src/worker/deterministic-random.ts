// Values that are the same in every run of a generation without a record: random bytes and idempotency keys.
import { createHash } from 'node:crypto'
import type { Claim } from '../engine/execution/claim.ts'
import type { InsideStep } from './inside-step.ts'

type Seed = Pick<Claim, 'executionId' | 'generation'>

/** The nth call of the run's code, counted by this object, always returns the same bytes. */
export class DeterministicRandom {
  readonly #seed: Seed
  #count = 0

  constructor(seed: Seed) {
    this.#seed = seed
  }

  /** Calls inside a step are counted for that step: a recorded step does not run again, so it must not shift the count of the others. */
  bytes(purpose: string, inside: InsideStep | undefined): Buffer {
    if (inside !== undefined) {
      inside.randomCount += 1
      return hashOf(this.#seed, `${purpose} ${inside.idempotencyKey}`, inside.randomCount)
    }
    this.#count += 1
    return hashOf(this.#seed, purpose, this.#count)
  }
}

function hashOf({ executionId, generation }: Seed, purpose: string, count: number): Buffer {
  return createHash('sha256').update(`${executionId} ${generation} ${purpose} ${count}`).digest()
}

/** The key of a step; `index` null: of an effect outside any step, whose name is unique. */
export function idempotencyKeyOf({ executionId, generation }: Seed, name: string, index: number | null): string {
  return index === null ? `${executionId}:key:${generation}:${name}` : `${executionId}:${generation}:${name}:${index}`
}
