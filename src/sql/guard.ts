// Refuses calls that would hang or mislead:
//
// - the root handle inside its own transaction: the embedded database has one connection and would wait for itself; on
//   a pool the query would not see the writes of the transaction
// - handles that are used after their end
//
// The scope follows the asynchronous calls of `work`, and ends with the transaction.
import { AsyncLocalStorage } from 'node:async_hooks'
import { DatabaseError } from './errors.ts'

interface TransactionScope {
  ended: boolean
}

export class Guard {
  readonly #scopes = new AsyncLocalStorage<TransactionScope>()
  #open = 0
  #closed = false

  /** Every method of the root handle calls this first. */
  enter(): void {
    if (this.#closed) {
      throw new DatabaseError('closed', 'The database handle was used after close()', 'Open a new one.')
    }
    this.#refuseNested()
  }

  /** Runs `work` as the inside of a transaction. Every method of the transaction's handle calls `use` first. */
  async inside<T>(work: (use: () => void) => Promise<T>): Promise<T> {
    const scope: TransactionScope = { ended: false }
    const use = (): void => {
      if (!scope.ended) return
      throw new DatabaseError(
        'closed',
        'A transaction was used after it had ended',
        'Await every query of a transaction before its function returns.',
      )
    }
    this.#open++
    try {
      return await this.#scopes.run(scope, () => work(use))
    } finally {
      scope.ended = true
      // Until then Node tracks every promise of the process (measured on Node 20: a sixth of the time of a small call).
      if (--this.#open === 0) this.#scopes.disable()
    }
  }

  /**
   * False when it is closed already. Inside a transaction a second close is refused as well: the first waits for the
   * transaction.
   */
  close(): boolean {
    this.#refuseNested()
    if (this.#closed) return false
    this.#closed = true
    return true
  }

  #refuseNested(): void {
    if (this.#scopes.getStore()?.ended !== false) return
    throw new DatabaseError(
      'nested_query',
      'The root handle was used inside its own transaction',
      'Use the handle that the transaction passed to its function.',
    )
  }
}
