// The logger of a run, `ctx.logger`: the message is the user's, and the fields say which execution, attempt and step it is about. Code
// that an earlier run has executed already prints nothing.
import type { Logger, LogLevel } from '../model/logger.ts'
import type { Lease } from './lease.ts'
import { runFields } from './report.ts'

export interface LoggingRun {
  readonly logger: Logger
  readonly lease: Lease
  /** Whether an earlier run has executed the code that runs now. */
  readonly isRepeating: () => boolean
  /** The step that the calling code is part of. */
  readonly step: () => string | undefined
}

export class RunLogger implements Logger {
  readonly #run: LoggingRun

  constructor(run: LoggingRun) {
    this.#run = run
  }

  readonly debug = (message: string, fields?: object): void => this.log('debug', message, fields)
  readonly info = (message: string, fields?: object): void => this.log('info', message, fields)
  readonly warn = (message: string, fields?: object): void => this.log('warn', message, fields)
  readonly error = (message: string, fields?: object): void => this.log('error', message, fields)

  /** A step runs only while it is not recorded, so its lines are always new. */
  log(level: LogLevel, message: string, fields: object = {}, step: string | undefined = this.#run.step()): void {
    if (step === undefined && this.#run.isRepeating()) return
    this.report(level, message, { ...(step !== undefined && { step }), ...fields })
  }

  /** A line about the run, wherever its code is. */
  report(level: LogLevel, message: string, fields: object = {}): void {
    this.#run.logger[level](message, { ...runFields(this.#run.lease), ...fields })
  }
}
