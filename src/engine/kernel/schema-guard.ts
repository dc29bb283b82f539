// A process that runs notices when the schema is migrated beyond its code: a later deploy has run a migration whose `oldest_code` is
// newer. From then on it claims nothing, and its server is not ready. It finishes its running executions as far as possible.
//
// The ledger is read together with other queries: the heartbeats of workers, and the time that a server's probes request.
import { codeVersion } from '../../model/version.ts'
import { refuseOldCode, type LedgerEntry } from '../../sql/ledger.ts'
import { asEngineError } from './failure.ts'

export class SchemaGuard {
  readonly #schema: string
  #ledger: readonly LedgerEntry[] = []

  constructor(schema: string) {
    this.#schema = schema
  }

  /** Stores the ledger as it was read. */
  notice(ledger: readonly LedgerEntry[]): void {
    this.#ledger = ledger
  }

  /** Throws `code_too_old` when the schema needs newer code than this. */
  check(): void {
    try {
      refuseOldCode(this.#ledger, this.#schema, codeVersion)
    } catch (error) {
      throw asEngineError(error)
    }
  }
}
