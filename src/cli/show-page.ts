// Prints a page of a list, as a table or as JSON; with `--all`, every page, and as JSON a line for each row.
import type { Command } from 'commander'
import { wholeNumber } from './arguments.ts'
import type { Cli } from './cli.ts'
import { everyRow, type ListPage } from './pages.ts'
import type { Column } from './print.ts'

export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string
  readonly all?: boolean
}

export function pageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'rows per page (default: 50)', wholeNumber)
    .option('--cursor <cursor>', 'continue after the page that printed this cursor')
    .option('--all', 'all pages; with --json, one line per row')
}

/** The page options of the engine's lists. */
export function pageRequest({ limit, cursor }: PageOptions): { limit?: number; cursor?: string } {
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
}

export interface Shown<Row> {
  /** The plural of the objects: the name of the list in JSON. */
  readonly noun: string
  readonly columns: readonly Column<Row>[]
  readonly read: (request: { limit?: number; cursor?: string }) => Promise<ListPage<Row>>
  /** The text for an empty list. */
  readonly none: string
  readonly asJson?: (row: Row) => unknown
}

const batch = 500

export async function showPage<Row>(cli: Cli, options: PageOptions, shown: Shown<Row>): Promise<void> {
  const { noun, columns, read, none, asJson = (row: Row): unknown => row } = shown
  if (options.all === true) return showAll(cli, options, shown)
  const { rows, nextCursor } = await read(pageRequest(options))
  if (cli.json) return cli.out.json({ [noun]: rows.map(asJson), nextCursor })
  if (rows.length === 0) return sayNone(cli, none)
  cli.out.table(columns, rows)
  if (nextCursor === null || !cli.out.isTerminal) return
  cli.err.line(cli.err.colours.dim(`More rows: use --all, or --cursor ${nextCursor}`))
}

async function showAll<Row>(cli: Cli, options: PageOptions, shown: Shown<Row>): Promise<void> {
  const { columns, read, none, asJson = (row: Row): unknown => row } = shown
  const first = pageRequest(options)
  let rows: Row[] = []
  let count = 0
  for await (const row of everyRow((from) => read({ limit: 1000, ...first, ...from }))) {
    count += 1
    if (cli.json) {
      cli.out.line(JSON.stringify(asJson(row)))
      continue
    }
    rows.push(row)
    // A terminal's table is aligned as a whole; rows into a pipe need not wait for the last page.
    if (cli.out.isTerminal || rows.length < batch) continue
    cli.out.table(columns, rows)
    rows = []
  }
  if (rows.length > 0) cli.out.table(columns, rows)
  if (count === 0 && !cli.json) sayNone(cli, none)
}

function sayNone(cli: Cli, none: string): void {
  if (cli.err.isTerminal) cli.err.line(none)
}
