// The output of the CLI. On a terminal: aligned, coloured, cut to its width. Into a pipe: nothing cut, no colours,
// tables as lines of tab-separated values without a header, so that `cut -f1` and `while read` work.
import picocolors from 'picocolors'
import type { PublicState } from '../model/state.ts'
import { bareIds } from './ids.ts'
import type { Output } from './cli-process.ts'
import { cut, harmless, padTo, widthOf, wrap } from './text.ts'

export type Colours = ReturnType<typeof picocolors.createColors>
type Paint = (text: string) => string

export interface Column<Row> {
  readonly title: string
  /** It may contain text of others: control characters are escaped here. */
  readonly of: (row: Row) => string
  readonly paint?: (row: Row, colours: Colours) => Paint
  readonly align?: 'left' | 'right'
  /** Cut first when the terminal is too narrow; left out of the table when hardly any of it would remain. */
  readonly gives?: boolean
}

export class Printer {
  readonly isTerminal: boolean
  readonly width: number
  readonly colours: Colours
  /** The terminal can show symbols beyond ASCII. */
  readonly hasUnicode: boolean
  readonly #output: Output

  constructor(output: Output, env: Readonly<Record<string, string | undefined>>) {
    const { isTTY = false, columns } = output
    this.#output = output
    this.isTerminal = isTTY
    // A terminal with an unknown width reports 0.
    this.width = isTTY ? columns || 80 : Infinity
    const wantsColour = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
    this.colours = picocolors.createColors(isTTY && wantsColour)
    this.hasUnicode = knowsUnicode(env)
  }

  write(text: string): void {
    this.#output.write(text)
  }

  line(text = ''): void {
    this.#output.write(`${text}\n`)
  }

  /** One document: indented on a terminal, on one line into a pipe. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, undefined, this.isTerminal ? 2 : undefined) ?? 'null')
  }

  /** A long text, wrapped at words on a terminal; its line breaks are kept. */
  paragraph(text: string, indent = ''): void {
    for (const line of this.wrapped(text, indent.length)) this.line(indent + line)
  }

  /**
   * One sentence, which may quote text of others: line breaks in it are escaped, so that no quoted text forges a line.
   */
  sentence(text: string, indent = ''): void {
    this.paragraph(harmless(bareIds(text)), indent)
  }

  wrapped(text: string, indent = 0): string[] {
    const lines = text.split('\n').map(harmless)
    return this.isTerminal ? lines.flatMap((line) => wrap(line, Math.max(20, this.width - indent))) : lines
  }

  heading(text: string): void {
    this.line()
    this.line(this.colours.bold(text))
  }

  /** Names and values; entries with null are left out. */
  facts(entries: readonly (readonly [name: string, value: string | null])[]): void {
    const given = entries.filter((entry): entry is readonly [string, string] => entry[1] !== null)
    const longest = Math.max(0, ...given.map(([name]) => name.length))
    for (const [name, value] of given) {
      const text = harmless(value)
      if (this.isTerminal) this.line(`${this.colours.dim(name.padEnd(longest))}  ${text}`)
      else this.line(`${name}\t${text}`)
    }
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], indent = ''): void {
    const cells = rows.map((row) => columns.map((column) => harmless(column.of(row))))
    if (!this.isTerminal) {
      for (const line of cells) this.line(line.join('\t'))
      return
    }
    const widths = fit(columns, cells, this.width - indent.length)
    const shown = columns.map((_, index) => index).filter((index) => widths[index]! > 0)
    const align = (texts: readonly string[], paint: (text: string, index: number) => string): string =>
      shown
        .map((index) => {
          const text = cut(texts[index]!, widths[index]!)
          return paint(padTo(text, widths[index]!, columns[index]!.align ?? 'left'), index)
        })
        .join('  ')
        .trimEnd()
    const titles = columns.map((column) => column.title)
    this.line(indent + align(titles, (text) => this.colours.dim(text)))
    rows.forEach((row, line) => {
      const paint = (text: string, index: number): string => columns[index]!.paint?.(row, this.colours)(text) ?? text
      this.line(indent + align(cells[line]!, paint))
    })
  }
}

const leastWidth = 8

/**
 * Each column is as wide as its widest cell, and left out when all cells are empty. Columns with `gives` are narrowed
 * until all fit.
 */
function fit<Row>(columns: readonly Column<Row>[], cells: readonly (readonly string[])[], width: number): number[] {
  const widths = columns.map((column, index) => {
    const widest = Math.max(...cells.map((line) => widthOf(line[index]!)))
    return widest === 0 ? 0 : Math.max(widthOf(column.title), widest)
  })
  const surplus = (): number =>
    widths.reduce((sum, each) => sum + each, 0) + 2 * (widths.filter((each) => each > 0).length - 1) - width
  for (let index = columns.length - 1; index >= 0; index -= 1) {
    if (columns[index]!.gives !== true || surplus() <= 0) continue
    const left = widths[index]! - surplus()
    widths[index] = left < leastWidth ? 0 : left
  }
  return widths
}

function knowsUnicode(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] ?? env['LC_CTYPE'] ?? env['LANG'] ?? ''
  return locale === '' || /utf-?8/i.test(locale)
}

const paintOf: Readonly<Record<PublicState, keyof Colours>> = {
  waiting: 'yellow',
  resumable: 'yellow',
  delayed: 'blue',
  rate_limited: 'blue',
  waiting_children: 'magenta',
  suspended: 'magenta',
  active: 'cyan',
  completed: 'green',
  failed: 'red',
  expired: 'red',
  cancelled: 'gray',
  skipped: 'gray',
}

export function stateColour(state: PublicState, colours: Colours): Paint {
  return colours[paintOf[state]] as Paint
}
