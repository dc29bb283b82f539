import { Option, type Command } from 'commander'
import { shownUrl } from '../../connect/url.ts'
import { codeVersion } from '../../model/version.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'

export function addMigrate(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .description('create or update the database schema')
    .option('--check', 'change nothing; exit code 1 if an update is needed')
    .addOption(
      new Option('--grant-to <role>', 'grant a database role the rights that a worker or server needs').conflicts(
        'check',
      ),
    )
    .addHelpText(
      'after',
      examples('migrate', 'migrate --url postgres://me@host/app', 'migrate --check', 'migrate --grant-to app'),
    )
  cli.does(command, async ({ check = false, grantTo }: { check?: boolean; grantTo?: string }) => {
    // The process that serves a database migrates its schema, by its own version.
    cli.refuseServer('migrate')
    const { schema = 'flowfabric' } = cli.globals
    const at = Date.now()
    await cli.connected(async () => {}, {
      ...(!check && { migrate: true }),
      ...(grantTo !== undefined && { grantTo }),
      ...cli.alone,
    })
    const url = shownUrl(cli.url)
    if (cli.json) return cli.out.json({ kind: 'up_to_date', url, schema, codeVersion })
    cli.out.line(`Schema ${schema} in ${url} is up to date with flowfabric ${codeVersion} (${Date.now() - at} ms).`)
    if (grantTo !== undefined) cli.out.line(`Role ${grantTo} now has the rights of a worker or server.`)
  })
}
