// The progress of long work: a bar on standard error, on a terminal only.
import type { Printer } from './print.ts'

const barWidth = 24

export class ProgressBar {
  readonly #printer: Printer
  readonly #what: string
  readonly #total: number
  readonly #isShown: boolean
  #done = 0

  constructor(printer: Printer, what: string, total: number, isQuiet: boolean) {
    this.#printer = printer
    this.#what = what
    this.#total = total
    this.#isShown = printer.isTerminal && !isQuiet && total > 1
  }

  /** Adds `count` finished items. */
  step(count = 1, note = ''): void {
    this.#done += count
    if (!this.#isShown) return
    const { colours, hasUnicode } = this.#printer
    const [full, empty] = hasUnicode ? ['█', '░'] : ['#', '-']
    const filled = Math.round((barWidth * Math.min(this.#done, this.#total)) / this.#total)
    const bar = colours.cyan(full.repeat(filled)) + colours.dim(empty.repeat(barWidth - filled))
    this.#printer.write(`\r\u001b[2K${this.#what} ${bar} ${this.#done}/${this.#total} ${colours.dim(note)}`)
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isShown && this.#done > 0) this.#printer.write('\r\u001b[2K')
  }
}
