// The bytes of request bodies that are being read or processed: bounded for each caller, and for all callers together.
// Callers without a key have a budget of their own, so that they cannot use up that of the others.
import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { Identity } from './identity.ts'

/** The bytes that one request has taken. */
export interface TakenBytes {
  /** Refuses when the caller, or all callers together, would have too many. */
  add(bytes: number): void
  release(): void
}

interface Budget {
  readonly perCaller: number
  readonly inAll: number
  used: number
}

export class BodyBudgets {
  readonly #ofKeys: Budget = { perCaller: limits.bodiesPerKeyBytes, inAll: limits.bodiesOfKeysBytes, used: 0 }
  readonly #ofAddresses: Budget = {
    perCaller: limits.bodiesPerAddressBytes,
    inAll: limits.bodiesOfAddressesBytes,
    used: 0,
  }
  readonly #usedBy = new Map<string, number>()

  /** The bytes of all bodies under way. */
  get usedBytes(): number {
    return this.#ofKeys.used + this.#ofAddresses.used
  }

  open(identity: Identity, address: string): TakenBytes {
    const isStranger = identity.scopes.length === 0
    const budget = isStranger ? this.#ofAddresses : this.#ofKeys
    const caller = isStranger ? `address ${address}` : `key ${identity.keyId ?? 'none'}`
    let own = 0
    return {
      add: (bytes) => {
        const used = (this.#usedBy.get(caller) ?? 0) + bytes
        if (used > budget.perCaller) throw busy(`${caller} has`, budget.perCaller)
        if (budget.used + bytes > budget.inAll) throw busy('all callers together have', budget.inAll)
        this.#usedBy.set(caller, used)
        budget.used += bytes
        own += bytes
      },
      release: () => {
        if (own === 0) return
        const left = this.#usedBy.get(caller)! - own
        if (left === 0) this.#usedBy.delete(caller)
        else this.#usedBy.set(caller, left)
        budget.used -= own
        own = 0
      },
    }
  }
}

function busy(who: string, limit: number): EngineError {
  const sentence = `${who} more than ${limit} bytes of requests under way at once; try again when one is answered`
  return new EngineError('concurrency_limited', sentence, { limit })
}
