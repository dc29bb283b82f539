// The name under which a statement is prepared, and the recovery when the server no longer accepts it.
//
// A large set statement costs more to plan than to run, so statements are prepared by name. The name ends in a hash of
// the text: behind a pooler that mixes sessions, a name that another client prepared then means the same text.
import { createHash } from 'node:crypto'
import { sqlState } from './errors.ts'
import type { Logger } from './logger.ts'
import type { Statement } from './statement.ts'

export interface Prepared {
  readonly statement: Statement
  readonly text: string
  /** Undefined: not prepared by name. */
  readonly name: string | undefined
}

/** An error of the server with the statement that caused it; undefined for the begin or commit around it. */
export class PreparationRefused extends Error {
  readonly prepared: Prepared | undefined

  constructor(cause: unknown, prepared: Prepared | undefined) {
    super('refused', { cause })
    this.prepared = prepared
  }
}

// A new name, then none: further repeats would be a bug of ours.
const mostAttempts = 3

export interface PreparationOptions {
  readonly byName: boolean
  readonly textOf: (statement: Statement) => string
  readonly logger: Logger
}

export class Preparation {
  readonly #textOf: (statement: Statement) => string
  readonly #logger: Logger
  readonly #current = new WeakMap<Statement, Prepared>()
  #byName: boolean

  constructor(options: PreparationOptions) {
    this.#byName = options.byName
    this.#textOf = options.textOf
    this.#logger = options.logger
  }

  of(statement: Statement): Prepared {
    if (!this.#byName) return this.unnamed(statement)
    const known = this.#current.get(statement)
    if (known !== undefined) return known
    const text = this.#textOf(statement)
    return this.#remember({ statement, text, name: `${statement.name}:${hash(text)}` })
  }

  unnamed(statement: Statement): Prepared {
    return { statement, text: this.#textOf(statement), name: undefined }
  }

  /** Runs `attempt`, which throws `PreparationRefused`, and repeats it while only the preparation was refused. */
  async repeat<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof PreparationRefused)) throw error
        if (attempts === mostAttempts || !this.#learn(error.cause, error.prepared)) throw error.cause
      }
    }
  }

  /** As `repeat`, inside an open transaction: nothing can be repeated there, but the next transaction succeeds. */
  async observe<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof PreparationRefused)) throw error
      this.#learn(error.cause, error.prepared)
      throw error.cause
    }
  }

  /**
   * True when the server refused the preparation and not the statement: nothing was done, and a retry with the next
   * result of `of` may succeed.
   */
  #learn(error: unknown, used: Prepared | undefined): boolean {
    if (used?.name === undefined) return false
    if (isStalePlan(error)) {
      // Another connection may have had the same stale plan before, and created the new name.
      if (this.#byName && this.of(used.statement).name === used.name) this.#rename(used, used.name)
      return true
    }
    if (!isNameTrouble(error)) return false
    if (this.#byName) {
      this.#byName = false
      this.#logger.warn(
        'prepared statements are now off, because the server mixes up their names, as a connection pooler does; ' +
          'add prepare=false to the URL to turn them off from the start',
      )
    }
    return true
  }

  #rename(used: Prepared, name: string): void {
    const [base = '', hashed = '', generation = '1'] = name.split(':')
    this.#remember({ ...used, name: `${base}:${hashed}:${Number(generation) + 1}` })
  }

  #remember(prepared: Prepared): Prepared {
    this.#current.set(prepared.statement, prepared)
    return prepared
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

// "cached plan must not change result type" shares its SQLSTATE with every unsupported feature, and its message is
// translated. The name of the routine that raises it is neither shared nor translated.
function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
}

// An unknown name, a name in use, and the protocol violation that poolers make of both.
function isNameTrouble(error: unknown): boolean {
  const state = sqlState(error)
  if (state === '26000' || state === '42P05') return true
  return state === '08P01' && /prepared statement/i.test((error as Error).message)
}
