import type { Command } from 'commander'
import type { SignalEffect } from '../../model/signal.ts'
import type { SignalContent, SignalResult } from '../../engine/waiting/signal/incoming.ts'
import { jsonValue } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { executionOf } from '../ids.ts'
import { harmless } from '../text.ts'

interface SignalOptions {
  readonly token?: string
  readonly key?: string
  readonly category?: string
  readonly correlation?: string
}

export function addSignal(program: Command, cli: Cli): void {
  const command = program
    .command('signal')
    .description('send a signal to an execution by name, or to a waitpoint with its token')
    .argument('<target>', 'execution id or prefix; with --token, the waitpoint id')
    .argument('<name>', 'name of the signal')
    .argument('[payload]', 'JSON; - reads stdin, @file a file')
    .option('--token <token>', 'token of the waitpoint')
    .option('--key <key>', 'idempotency key: a repeat with the same key has no effect')
    .option('--category <word>', 'category of the signal')
    .option('--correlation <id>', 'correlation id')
    .addHelpText(
      'after',
      examples(
        `signal 0190b6d2-4f1c approval '{"approved":true}'`,
        'signal 0190b6d3-77aa-7c01-9d0e-5f2b8c4d1e6a paid --token k1:3f9a...',
      ),
    )
  cli.does(command, async (options: SignalOptions, target: string, name: string, payload?: string) => {
    const value = await jsonValue('the payload', payload, cli.host)
    await cli.connected(async ({ engine }) => {
      const content = await contentOf(name, value, options)
      const result =
        options.token === undefined
          ? await engine.signals.send({ executionId: await executionOf(engine, target), ...content })
          : await engine.signals.deliver({ waitpointId: target, token: options.token, ...content })
      printSignal(cli, result)
    })
  })
}

async function contentOf(name: string, value: unknown, options: SignalOptions): Promise<SignalContent> {
  const { key, category, correlation } = options
  return {
    name,
    ...(await payloadOf(value)),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(category !== undefined && { category }),
    ...(correlation !== undefined && { correlationId: correlation }),
  }
}

export async function payloadOf(value: unknown): Promise<{ payload?: Uint8Array; payloadEncoding?: string }> {
  if (value === undefined) return {}
  const { jsonCodec } = await import('../../model/codec.ts')
  const { bytes, encoding } = jsonCodec.encode(value)
  return { payload: bytes, payloadEncoding: encoding }
}

const effects: Readonly<Record<SignalEffect, string>> = {
  resume_condition_satisfied: '; the execution resumed',
  appended_to_waitpoint: ' and stored; the execution waits for more',
  appended_to_waitpoint_duplicate: ', but the same answer had already counted',
  signal_ignored_not_in_condition: ', but the execution does not wait for a signal of this name',
  signal_ignored_matcher_failed: ', but it does not match what the execution waits for',
  buffered_for_pending_waitpoint: '; it is stored until the execution waits for it',
  kept_for_condition: '; it is stored until the execution waits for it',
  no_op: ', but it came too late and changed nothing',
}

export function printSignal(cli: Cli, result: SignalResult): void {
  if (cli.json) return cli.out.json(result)
  const effect = effects[result.effect]
  const accepted = result.kind === 'duplicate' ? 'The signal was accepted earlier' : 'Signal accepted'
  cli.out.line(`${accepted}${effect}.`)
  if (result.hint !== undefined) cli.err.paragraph(`${cli.err.colours.yellow('hint:')} ${harmless(result.hint)}`)
}
