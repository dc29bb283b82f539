import type { Command } from 'commander'
import { shownUrl } from '../../connect/url.ts'
import { codeVersion } from '../../model/version.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'

export function addMigrate(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .description('bring the schema up to date, or make it; with --check only look')
    .option('--check', 'change nothing; 1 when something is to be done')
    .addHelpText('after', examples('migrate', 'migrate --url postgres://me@host/app', 'migrate --check'))
  cli.does(command, async ({ check = false }: { check?: boolean }) => {
    // Whoever serves a database has looked after its schema, by a version of his own.
    cli.refuseServer('migrate')
    const { schema = 'flowfabric' } = cli.globals
    const at = Date.now()
    await cli.connected(async () => {}, { ...(!check && { migrate: true }), ...cli.alone })
    const url = shownUrl(cli.url)
    if (cli.json) return cli.out.json({ kind: 'up_to_date', url, schema, codeVersion })
    cli.out.line(`The schema ${schema} in ${url} is up to date with flowfabric ${codeVersion} (${Date.now() - at} ms).`)
  })
}
