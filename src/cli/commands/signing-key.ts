import type { Command } from 'commander'
import type { ListedSigningKey } from '../../engine/signing-key/list.ts'
import type { Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import type { Cli } from '../cli.ts'
import { fromEnvironment } from '../environment.ts'
import { examples } from '../examples.ts'
import type { Column } from '../print.ts'
import { instant, timeCell } from '../time.ts'

interface RotateOptions {
  readonly grace?: Duration
  readonly kid?: string
}

export function addSigningKey(program: Command, cli: Cli): void {
  const signingKey = program.command('signing-key').description('manage the keys that sign waitpoint tokens')
  addList(signingKey, cli)
  addRotate(signingKey, cli)
}

function addList(signingKey: Command, cli: Cli): void {
  const command = signingKey
    .command('list')
    .description('list valid keys, without their secrets')
    .addHelpText('after', examples('signing-key list', 'signing-key list --namespace shop'))
  cli.does(command, () =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      const signingKeys = await engine.signingKeys.list()
      if (cli.json) return cli.out.json({ signingKeys })
      if (signingKeys.length === 0) cli.err.line('No signing keys yet; the first token creates one.')
      else cli.out.table(columns(timeCell(cli.out, now)), signingKeys)
    }),
  )
}

function addRotate(signingKey: Command, cli: Cli): void {
  const command = signingKey
    .command('rotate')
    .description('create a new signing key; the previous one stays valid for its grace period')
    .option('--grace <duration>', 'how long the previous key stays valid (default: 1d)')
    .option(
      '--kid <id>',
      'id of the new key; its secret, 64 hex digits or more, is read from FLOWFABRIC_SIGNING_SECRET',
    )
    .addHelpText('after', examples('signing-key rotate', 'signing-key rotate --namespace shop --grace 2h'))
  cli.does(command, ({ grace, kid }: RotateOptions) => {
    const secret = kid === undefined ? undefined : secretOf(cli)
    return cli.connected(async ({ engine }) => {
      const rotated = await engine.signingKeys.rotate({
        ...(grace !== undefined && { grace }),
        ...(kid !== undefined && secret !== undefined && { kid, secret }),
      })
      if (cli.json) return cli.out.json(rotated)
      if (rotated.kind === 'unchanged') return cli.out.line(`Key ${rotated.kid} is the signing key already.`)
      const { previousKid, previousExpiresAt } = rotated
      const before =
        previousKid === null || previousExpiresAt === null
          ? ''
          : ` ${previousKid} stays valid until ${instant(previousExpiresAt)}.`
      cli.out.line(`Key ${rotated.kid} now signs tokens.${before}`)
    })
  })
}

// Every user who lists processes could read an argument.
function secretOf(cli: Cli): string {
  const secret = fromEnvironment(cli.env, 'FLOWFABRIC_SIGNING_SECRET')
  if (secret !== undefined) return secret
  const sentence = '--kid needs the secret of the key; put it, 64 hex digits or more, into FLOWFABRIC_SIGNING_SECRET'
  throw new EngineError('invalid_secret_hex', sentence, { field: 'secret' })
}

function columns(time: (at: number | null) => string): Column<ListedSigningKey>[] {
  return [
    { title: 'KEY', of: (row) => row.kid },
    { title: 'NAMESPACE', of: (row) => row.namespace ?? 'all' },
    { title: 'DOES', of: (row) => (row.isActive ? 'signs' : 'verifies') },
    { title: 'MADE', of: (row) => time(row.createdAt), align: 'right' },
    { title: 'UNTIL', of: (row) => time(row.expiresAt), align: 'right' },
  ]
}
