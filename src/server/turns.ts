// Limits the concurrent requests of one key, or of one namespace. Further requests wait for their turn, in order, so
// that many costly requests of one caller do not occupy the database and this process.
import { EngineError } from '../model/errors.ts'

/** A request, whose signal aborts when its client disconnects. It is read only when the request has to wait. */
export type TurnClient = Pick<Request, 'signal'>

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

export class Turns {
  readonly #most: number
  readonly #mostWaiting: number
  readonly #lines = new Map<string, Line>()

  constructor(most: number, mostWaiting: number) {
    this.#most = most
    this.#mostWaiting = mostWaiting
  }

  /**
   * Resolves when it is its turn; refuses when too many requests wait already, and when the client disconnects while it
   * waits. Release each turn once.
   */
  async take(who: string, what: string, client?: TurnClient): Promise<void> {
    const line = this.#lines.get(who) ?? { running: 0, waiting: [] }
    this.#lines.set(who, line)
    if (line.running < this.#most) {
      line.running += 1
      return
    }
    if (line.waiting.length >= this.#mostWaiting) throw this.#tooMany(who, what)
    await turnIn(line, client?.signal)
  }

  release(who: string): void {
    const line = this.#lines.get(who)!
    const next = line.waiting.shift()
    if (next !== undefined) return next()
    line.running -= 1
    if (line.running === 0) this.#lines.delete(who)
  }

  #tooMany(who: string, what: string): EngineError {
    const limit = this.#most + this.#mostWaiting
    const sentence = `${who} has ${limit} ${what} under way, which is as many as it may; try again when some have ended`
    return new EngineError('concurrency_limited', sentence, { limit })
  }
}

function turnIn({ waiting }: Line, gone: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      gone?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = (): void => {
      const place = waiting.indexOf(begin)
      if (place >= 0) waiting.splice(place, 1)
      reject(new EngineError('concurrency_limited', 'the client hung up before it was its turn; nothing was done'))
    }
    if (gone?.aborted === true) return leave()
    gone?.addEventListener('abort', leave)
    waiting.push(begin)
  })
}
