import { Option, type Command } from 'commander'
import type { Engine } from '../../engine/contract.ts'
import type { ApiKey } from '../../engine/api-key/api-key.ts'
import { scopes, type Scope } from '../../model/api-key.ts'
import { parseDuration } from '../../model/duration.ts'
import { list, pointInTime, wholeNumber } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import type { Column } from '../print.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { timeCell } from '../time.ts'

export function addApiKey(program: Command, cli: Cli): void {
  const apiKey = program.command('api-key').description('manage the API keys of a server')
  addCreate(apiKey, cli)
  addList(apiKey, cli)
  addRevoke(apiKey, cli)
}

interface CreateOptions {
  readonly scope: readonly Scope[]
  readonly rate?: number
  readonly expires?: string
}

function addCreate(apiKey: Command, cli: Cli): void {
  const scope = new Option('--scope <scope>', `permission: ${scopes.join(', ')}; repeatable`)
  const command = apiKey
    .command('create')
    .description('create a key; it is printed only once')
    .argument('<name>', 'name of the key, as the event log records it')
    .addOption(scope.argParser(list).makeOptionMandatory())
    .option('--expires <when>', 'lifetime, such as 90d, or last day, such as 2027-12-31 (default: no expiry)')
    .option('--rate <n>', 'requests per second (default: the limit of the server)', wholeNumber)
    .addHelpText(
      'after',
      examples(
        'api-key create checkout --scope submit --scope read --namespace shop',
        'api-key create ops --scope admin --expires 90d',
      ),
    )
  cli.does(command, ({ scope: given, rate, expires }: CreateOptions, name: string) =>
    cli.connected(async ({ engine }) => {
      const requestsPerSecond = rate === undefined ? {} : { requestsPerSecond: rate }
      const until = expires === undefined ? {} : { expiresAt: await expiryOf(expires, engine) }
      const created = await engine.apiKeys.create({ name, scopes: given, ...requestsPerSecond, ...until })
      if (cli.json) return cli.out.json(created)
      cli.out.line(created.key)
      const where = created.namespace === null ? 'all namespaces' : `namespace ${created.namespace}`
      if (cli.err.isTerminal)
        cli.err.line(cli.err.colours.dim(`${created.scopes.join(', ')} in ${where}; it will not be shown again`))
    }),
  )
}

async function expiryOf(typed: string, engine: Engine): Promise<number> {
  // A date begins with its year and has no unit after it.
  if (/^\d{4}-/.test(typed)) return pointInTime(typed)
  return (await engine.serverTime()) + parseDuration('--expires', typed)
}

function addList(apiKey: Command, cli: Cli): void {
  const command = pageOptions(
    apiKey.command('list').description('list keys, oldest first, without their secrets'),
  ).addHelpText('after', examples('api-key list'))
  cli.does(command, (options: PageOptions) =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      await showPage<ApiKey>(cli, options, {
        noun: 'apiKeys',
        columns: columns(timeCell(cli.out, now)),
        none: 'No API keys. A server on loopback accepts requests without one; on other addresses it refuses to start.',
        read: async (page) => {
          const { apiKeys, nextCursor } = await engine.apiKeys.list(page)
          return { rows: apiKeys, nextCursor }
        },
      })
    }),
  )
}

function columns(time: (at: number | null) => string): Column<ApiKey>[] {
  return [
    { title: 'KEY', of: (row) => row.keyId },
    { title: 'NAME', of: (row) => row.name },
    { title: 'NAMESPACE', of: (row) => row.namespace ?? 'all' },
    { title: 'SCOPES', of: (row) => row.scopes.join(','), gives: true },
    { title: 'MADE', of: (row) => time(row.createdAt), align: 'right' },
    { title: 'USED', of: (row) => time(row.lastUsedAt), align: 'right' },
    { title: 'EXPIRES', of: (row) => time(row.expiresAt), align: 'right' },
    { title: 'REVOKED', of: (row) => time(row.revokedAt), align: 'right' },
  ]
}

function addRevoke(apiKey: Command, cli: Cli): void {
  const command = apiKey
    .command('revoke')
    .description('revoke a key; servers refuse it within ten seconds')
    .argument('<key>', 'id of the key, as api-key list prints it')
    .addHelpText('after', examples('api-key revoke 01a1e741ede877b3ae2f52aaf382749f'))
  cli.does(command, (_: object, keyId: string) =>
    cli.connected(async ({ engine }) => {
      const answer = await engine.apiKeys.revoke({ keyId })
      if (cli.json) return cli.out.json(answer)
      cli.out.line(`${keyId} ${answer.kind === 'revoked' ? 'revoked' : 'was already revoked'}`)
    }),
  )
}
