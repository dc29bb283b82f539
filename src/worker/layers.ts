// The handler of a run and what goes around it, one within the other: who hears that the run has left or failed, and when.
import { RunLeft } from './errors.ts'

export class Layers {
  #left: RunLeft | null = null
  #onLeft: ((error: unknown) => void) | null = null

  /**
   * Begins a layer within those that are under way. What it gives or throws; rejects with `RunLeft` when the run has left. `over`
   * is called when it came to its end by itself.
   *
   * The innermost that is under way hears first that the run has left or failed. When it has left, whatever is around hears it a
   * turn later, when it has not come to its end by then: it may wait for a context that never answers again.
   */
  enter(begin: () => Promise<unknown>, over?: () => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#left !== null) return reject(this.#left)
      const outer = this.#onLeft
      const hear = outer === null ? reject : this.#andThen(reject, outer)
      const afterwards = (settle: (what: unknown) => void) => (what: unknown) => {
        if (this.#left === null && this.#onLeft === hear) {
          this.#onLeft = outer
          over?.()
        }
        settle(what)
      }
      this.#onLeft = hear
      begin().then(afterwards(resolve), afterwards(reject))
    })
  }

  /** With `RunLeft` the run has left; with anything else it has failed, and what is around may still make something of it. */
  leave(error: unknown): void {
    if (error instanceof RunLeft) this.#left ??= error
    this.#onLeft?.(error)
  }

  #andThen(reject: (error: unknown) => void, outer: (error: unknown) => void): (error: unknown) => void {
    return (error) => {
      this.#onLeft = outer
      reject(error)
      if (error instanceof RunLeft) setImmediate(outer, error)
    }
  }
}
