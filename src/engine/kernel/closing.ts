// The end of an engine. A close takes no more calls, and waits for the answers to those that were taken: a create that was
// accepted and stands in a set that has not gone yet is written, not refused. It waits for a bounded time, because the
// database may be out of reach; what is not answered then is refused when the database's handle closes.
import { EngineError } from '../../model/errors.ts'
import { around } from '../../sql/around.ts'
import type { Sql } from '../../sql/sql.ts'

const longestCloseMs = 10_000

/** Whoever takes calls and answers them later. */
interface CallTaker {
  close(): Promise<void>
}

export class Closing {
  readonly #takers: readonly CallTaker[]
  readonly #hints: CallTaker
  #answered: Promise<void> | null = null

  /** `hints`: of what the takers have written others hear. */
  constructor(takers: readonly CallTaker[], hints: CallTaker) {
    this.#takers = takers
    this.#hints = hints
  }

  /** The database for what goes straight to it: after the close it is refused, though sets may still be on their way. */
  refusing(sql: Sql): Sql {
    return around(sql, async (ask) => {
      if (this.#answered !== null) throw engineClosed()
      return ask()
    })
  }

  close(longestMs: number = longestCloseMs): Promise<void> {
    this.#answered ??= this.#finish(longestMs)
    return this.#answered
  }

  async #finish(longestMs: number): Promise<void> {
    const answered = Promise.all(this.#takers.map((taker) => taker.close()))
    await within(
      longestMs,
      answered.then(() => this.#hints.close()),
    )
  }
}

/** Resolves when the work is done, or when its time is over. */
export async function within(longestMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const givenUp = new Promise((resolve) => (timer = setTimeout(resolve, longestMs)))
  await Promise.race([work, givenUp])
  clearTimeout(timer)
}

export function engineClosed(): EngineError {
  return new EngineError('engine_closed', 'the engine is closed and accepts no more calls; connect again')
}
