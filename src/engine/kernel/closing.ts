// The end of an engine. `close` accepts no more calls and waits for the results of the accepted ones: a create that waits in
// a set is still written. It waits for a bounded time, because the database may be unreachable; the calls that remain are
// refused when the database's handle closes.
import { EngineError } from '../../model/errors.ts'

const longestCloseMs = 10_000

interface CallTaker {
  close(): Promise<void>
}

export class Closing {
  readonly #takers: () => readonly CallTaker[]
  readonly #hints: CallTaker
  #answered: Promise<void> | null = null

  /** `hints` is closed last: the writes of the takers are announced too. */
  constructor(takers: () => readonly CallTaker[], hints: CallTaker) {
    this.#takers = takers
    this.#hints = hints
  }

  get hasBegun(): boolean {
    return this.#answered !== null
  }

  close(longestMs: number = longestCloseMs): Promise<void> {
    this.#answered ??= this.#finish(longestMs)
    return this.#answered
  }

  async #finish(longestMs: number): Promise<void> {
    const answered = Promise.all(this.#takers().map((taker) => taker.close()))
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
