// Delivers results to the code one at a time, each in its own turn of the event loop: all that the code does with one result happens
// before the next. So a race has the same winner in every run, however many promises are between a result and the race.
//
// The order: results of earlier runs by the number of their record, then those of this run in the order in which they were queued.

interface QueuedResult {
  /** The number of its record; infinite for a record of this run. */
  readonly number: number
  readonly deliver: () => void
}

export class ResultQueue {
  readonly #onDelivered: () => void
  #results: QueuedResult[] = []
  /** A result is delivered in the next turn of the event loop, or was in this one. */
  #isTurnTaken = false
  #pauseCount = 0
  #isOver = false

  constructor(onDelivered: () => void) {
    this.#onDelivered = onDelivered
  }

  get isEmpty(): boolean {
    return this.#results.length === 0
  }

  /** Whether a result that is queued now would be the next one. */
  get isFree(): boolean {
    return !this.#isTurnTaken && this.#pauseCount === 0 && this.isEmpty
  }

  /** In the next turn, so that results that are queued together can be sorted. */
  push(number: number, deliver: () => void): void {
    this.#results.push({ number, deliver })
    this.#deliverNext()
  }

  /** No result is delivered until `resume` was called as often. */
  pause(): void {
    this.#pauseCount += 1
  }

  resume(): void {
    this.#pauseCount -= 1
    this.#deliverNext()
  }

  end(): void {
    this.#isOver = true
    this.#results = []
  }

  #deliverNext(): void {
    if (!this.#isTurnTaken && this.#pauseCount === 0 && !this.isEmpty) this.takeTurn()
  }

  /** Delivers the first result in the next turn. Called with an empty queue, it keeps later results out of this turn. */
  takeTurn(): void {
    this.#isTurnTaken = true
    setImmediate(() => {
      this.#isTurnTaken = false
      if (this.#isOver || this.#pauseCount > 0 || this.isEmpty) return
      const first = this.#results.reduce((one, other) => (other.number < one.number ? other : one))
      this.#results = this.#results.filter((each) => each !== first)
      first.deliver()
      this.#deliverNext()
      this.#onDelivered()
    })
  }
}
