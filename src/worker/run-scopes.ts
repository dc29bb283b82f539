// The nested scopes of a run: middleware around the handler, and the handler inside. A scope can be rejected while its code is still
// awaiting something, because the run has suspended, failed or lost its lease.
import { RunLeft } from './errors.ts'

export class RunScopes {
  #runLeft: RunLeft | null = null
  /** Rejects the innermost open scope. */
  #reject: ((error: unknown) => void) | null = null

  /**
   * Opens a scope inside the open ones. Settles as its code does, or rejects when the run stops before. `onReturned` is called when the
   * code itself has returned or thrown.
   *
   * When the run stops, the innermost scope rejects first. After a `RunLeft`, each outer scope rejects one turn of the event loop
   * later unless it has settled: it may be awaiting a context that never settles again.
   */
  enter(begin: () => Promise<unknown>, onReturned?: () => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#runLeft !== null) return reject(this.#runLeft)
      const outer = this.#reject
      const own = outer === null ? reject : this.#rejectThen(reject, outer)
      const closing = (settle: (value: unknown) => void) => (value: unknown) => {
        if (this.#runLeft === null && this.#reject === own) {
          this.#reject = outer
          onReturned?.()
        }
        settle(value)
      }
      this.#reject = own
      begin().then(closing(resolve), closing(reject))
    })
  }

  /** After a `RunLeft` the run is over. After any other error outer scopes may still handle it. */
  stop(error: unknown): void {
    if (error instanceof RunLeft) this.#runLeft ??= error
    this.#reject?.(error)
  }

  #rejectThen(reject: (error: unknown) => void, outer: (error: unknown) => void): (error: unknown) => void {
    return (error) => {
      this.#reject = outer
      reject(error)
      if (error instanceof RunLeft) setImmediate(outer, error)
    }
  }
}
