// How long a database may be silent, and the consequence when one of its connections was: other connections without a
// reply since then have a short grace, and one line is logged for all of them.
import type { Logger } from './logger.ts'
import type { TimelyClient } from './timely-client.ts'

/** The limit for a reply on postgres://, unless `timeout` of connect sets another. */
export const defaultAnswerWithinMs = 8000

export class Silence {
  readonly withinMs: number
  /** The grace of a suspect connection. */
  readonly graceMs: number
  readonly #logger: Logger
  readonly #clients = new Set<TimelyClient>()
  #loggedAt = -Infinity

  constructor(withinMs: number, logger: Logger) {
    this.withinMs = withinMs
    this.graceMs = Math.ceil(withinMs / 8)
    this.#logger = logger
  }

  /** The server cancels a statement before this side drops its connection. */
  get statementTimeoutMs(): number {
    return Math.max(1, Math.floor((this.withinMs * 7) / 8))
  }

  join(client: TimelyClient): void {
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
  }

  found(since: number): void {
    const now = performance.now()
    if (now - this.#loggedAt > this.withinMs + this.graceMs) {
      this.#loggedAt = now
      // Not a warning: if the calls fail on a new connection too, the database is unreachable, which is reported as
      // such.
      this.#logger.info(
        `a database connection did not respond within ${this.withinMs / 1000} s and was closed; ` +
          'its calls are sent again on a new connection, or fail with database_unreachable',
      )
    }
    for (const client of this.#clients) client.suspect(since)
  }
}

/** The reverse, for calls with a limit of their own. */
export function answerWithin(statementTimeoutMs: number | undefined): number | undefined {
  return statementTimeoutMs === undefined ? undefined : Math.ceil((statementTimeoutMs * 8) / 7)
}
