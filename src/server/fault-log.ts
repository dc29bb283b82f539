// Logs the errors that callers do not see, under the id of the request.
import { inspect } from 'node:util'
import { EngineError, isUnreachable } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import type { AppContext } from './router.ts'

const pauseMs = 1000

export class FaultLog {
  readonly #logger: Logger
  readonly #now: () => number
  /** When an outage was last logged, by code. */
  readonly #loggedAt = new Map<string, number>()

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger
    this.#now = now
  }

  /**
   * A fault is logged each time. While the database is unreachable every request fails in the same way, and the
   * connection has reported that. While it cannot work for another reason: one line a second, the others at debug.
   */
  log(context: Pick<AppContext, 'req' | 'get'>, fault: unknown): void {
    const { method, path } = context.req
    const request = `${method} ${path} (${context.get('requestId')})`
    if (!EngineError.is(fault) || !fault.retryable) return this.#logger.error(`${request}: ${inspect(fault)}`)
    const line = `${request}: ${fault.code}: ${fault.message}`
    if (isUnreachable(fault)) return this.#logger.debug(line)
    if (this.#now() - (this.#loggedAt.get(fault.code) ?? -Infinity) < pauseMs) return this.#logger.debug(line)
    this.#loggedAt.set(fault.code, this.#now())
    this.#logger.warn(line)
  }
}
