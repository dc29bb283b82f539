// The first lines of `flowfabric dev`: its URL, and commands to try.
import { shellQuote, shellWord } from './shell-quote.ts'
import { shownUrl } from '../connect/url.ts'
import { defaultUrl, type Cli } from './cli.ts'
import { harmless } from './text.ts'

export interface Started {
  readonly server: string
  /** Null if the server needs no key. */
  readonly keyFile: string | null
  readonly tasks: readonly string[]
  /** An input for the first task, as JSON; empty: it takes none; null: none is known. */
  readonly sample: string | null
  /** The source of the tasks: a file, the demo, or none. */
  readonly source: { readonly file: string } | 'demo' | 'none'
}

export function printStarted(cli: Cli, { server, keyFile, tasks, sample, source }: Started): void {
  const { out } = cli
  const database = shownUrl(cli.url)
  if (cli.json) return out.line(JSON.stringify({ kind: 'started', url: server, database, tasks, keyFile }))
  out.facts([
    ['server', server],
    ['key', keyFile === null ? null : `in ${keyFile}, readable by your user only`],
    ['database', database],
    ['tasks', source === 'none' ? 'none' : `${tasks.join(', ')} (${sourceOf(source)})`],
  ])
  out.line(`\n${out.colours.bold('Try in another terminal:')}`)
  // In this folder, commands find the database and the process that has it open without an option.
  const where = cli.url === defaultUrl ? '' : ` --url ${shellWord(cli.url.startsWith('file:') ? cli.url : server)}`
  const { program = 'npx flowfabric' } = cli.host
  for (const words of wordsToTry(tasks, sample, source)) out.line(harmless(`  ${program} ${words}${where}`))
  out.line(`\n${out.colours.dim('Events (press Ctrl-C to stop):')}`)
}

function sourceOf(source: { readonly file: string } | 'demo'): string {
  return source === 'demo' ? 'the demo' : `${source.file}, reloaded when it changes`
}

function wordsToTry([first = 'hello']: readonly string[], sample: string | null, source: Started['source']): string[] {
  if (source === 'none') return [`submit ${first}`, 'list', 'watch']
  const input = sample === '' ? '' : ` ${shellQuote(sample ?? '<input as JSON>')}`
  const flows = source === 'demo' ? ['flow list'] : []
  return [`submit ${first}${input} --watch`, 'list', ...flows, 'list --state suspended', `approve <id>`]
}
