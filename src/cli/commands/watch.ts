import { Option, type Command } from 'commander'
import type { SubscribeRequest } from '../../engine/event/subscribe.ts'
import type { EventKind } from '../../engine/event/log-event.ts'
import { EngineError } from '../../model/errors.ts'
import { list, tag } from '../arguments.ts'
import type { Cli, CliConnection } from '../cli.ts'
import { examples } from '../examples.ts'
import { executionOf, flowOf } from '../ids.ts'
import { follow, printEvent } from '../follow.ts'

interface WatchOptions {
  readonly flow?: string
  readonly kind?: readonly EventKind[]
  readonly tag?: Readonly<Record<string, string>>
  readonly after?: string
}

export function addWatch(program: Command, cli: Cli): void {
  const command = program
    .command('watch')
    .description('print events as they happen: of one execution until it ends, or of all until Ctrl-C')
    .argument('[id]', 'execution id or prefix (default: all executions)')
    .option('--flow <id>', 'only this flow and its members')
    .addOption(new Option('--kind <kind>', 'only events of this kind, such as ended; repeatable').argParser(list))
    .option('--tag <key=value>', 'only executions with this tag; repeatable', tag)
    .option('--after <cursor>', 'start after this event; --json prints the cursor of each event')
    .addHelpText('after', examples('watch', 'watch 0190b6d2-4f1c', 'watch --kind ended --json'))
  cli.does(command, (options: WatchOptions, id?: string) =>
    cli.connected((connected) =>
      id === undefined ? watchAll(cli, connected, options) : watchOne(cli, connected, options, id),
    ),
  )
}

async function watchOne(cli: Cli, { engine }: CliConnection, options: WatchOptions, id: string): Promise<void> {
  const together = Object.keys(options)[0]
  if (together !== undefined) {
    throw new EngineError(
      'invalid_input',
      `--${together} filters the events of all executions and cannot be used with an id; leave out one of them`,
    )
  }
  await follow(cli, engine, await executionOf(engine, id))
}

async function watchAll(cli: Cli, { engine }: CliConnection, options: WatchOptions): Promise<void> {
  const { flow, kind, tag: tags, after } = options
  const signal = cli.host.interruption?.()
  const request: SubscribeRequest = {
    ...(flow !== undefined && { flowId: await flowOf(engine, flow) }),
    ...(kind !== undefined && { kinds: kind }),
    ...(tags !== undefined && { tags }),
    ...(after !== undefined && { after }),
    ...(signal !== undefined && { signal }),
  }
  const events = await engine.events.subscribe(request)
  if (cli.err.isTerminal && !cli.json) cli.err.line(cli.err.colours.dim('Waiting for events; press Ctrl-C to stop.'))
  for await (const event of events) {
    if (event.kind !== 'truncated') printEvent(cli, event, true)
    else if (cli.json) cli.out.line(JSON.stringify(event))
    else cli.err.line('Some events are missing: the log no longer reaches back to that cursor.')
  }
}
