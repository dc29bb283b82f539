import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { parseExecutionId } from '../../model/id.ts'
import { exportRun, type RecordedRun } from '../../worker/recorded-run.ts'
import { idsOf } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { executionOf } from '../ids.ts'

export function addExport(program: Command, cli: Cli): void {
  const command = program
    .command('export')
    .description('write recorded runs as JSON, for flowfabric verify')
    .argument('<id...>', 'execution ids or prefixes; - reads them from stdin')
    .option('--to <directory>', 'write one file for each run (default: print one line for each)')
    .addHelpText(
      'after',
      examples('export 0190b6d2-4f1c > run.json', 'list --state suspended --all | flowfabric export - --to runs'),
    )
  cli.does(command, ({ to }: { readonly to?: string }, ids: string[]) =>
    cli.connected(async ({ engine }) => {
      for (const id of await idsOf(ids, cli.host)) {
        const run = await exportRun(engine, await executionOf(engine, id))
        if (to === undefined) cli.out.line(JSON.stringify(run))
        else await write(cli, to, run)
      }
    }),
  )
}

async function write(cli: Cli, directory: string, run: RecordedRun): Promise<void> {
  await mkdir(directory, { recursive: true })
  const { uuid } = parseExecutionId(run.executionId)
  const path = join(directory, `${run.kind.replaceAll(/[^\w.-]+/g, '-')}-${uuid}.json`)
  await writeFile(path, `${JSON.stringify(run, undefined, 2)}\n`)
  if (cli.json) cli.out.line(JSON.stringify({ kind: 'exported', executionId: run.executionId, path }))
  else cli.out.line(path)
}
