/** Wakes a waiting caller, and remembers a ring that came before the wait. */
export class Bell {
  #rung = false
  #wake: () => void = () => {}

  ring(): void {
    this.#rung = true
    this.#wake()
  }

  /** Resolves at the next ring since the last call, at the latest after `timeoutMs`. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#rung = false
  }
}
