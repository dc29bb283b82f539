import { Option, type Command } from 'commander'
import type { SubscribeRequest } from '../../engine/event/subscribe.ts'
import type { EventKind } from '../../engine/event/log-event.ts'
import { EngineError } from '../../model/errors.ts'
import { list, tag } from '../arguments.ts'
import type { Cli, Connected } from '../cli.ts'
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
    .description('events as they come: of one execution until it has ended, or of all until Ctrl-C')
    .argument('[id]', 'the execution; left out: all')
    .option('--flow <id>', 'of this flow and its members')
    .addOption(new Option('--kind <kind>', 'of this kind, such as ended; may be given several times').argParser(list))
    .option('--tag <key=value>', 'of executions with this tag; may be given several times', tag)
    .option('--after <cursor>', 'from this event of the log on; as JSON, each event has its cursor')
    .addHelpText('after', examples('watch', 'watch 0190b6d2-4f1c', 'watch --kind ended --json'))
  cli.does(command, (options: WatchOptions, id?: string) =>
    cli.connected((connected) =>
      id === undefined ? watchAll(cli, connected, options) : watchOne(cli, connected, options, id),
    ),
  )
}

async function watchOne(cli: Cli, { engine }: Connected, options: WatchOptions, id: string): Promise<void> {
  const together = Object.keys(options)[0]
  if (together !== undefined) {
    throw new EngineError('invalid_input', `--${together} chooses among all events; leave it out, or the id`)
  }
  await follow(cli, engine, await executionOf(engine, id))
}

async function watchAll(cli: Cli, { engine }: Connected, options: WatchOptions): Promise<void> {
  const { flow, kind, tag: tags, after } = options
  const signal = cli.surroundings.interruption?.()
  const request: SubscribeRequest = {
    ...(flow !== undefined && { flowId: await flowOf(engine, flow) }),
    ...(kind !== undefined && { kinds: kind }),
    ...(tags !== undefined && { tags }),
    ...(after !== undefined && { after }),
    ...(signal !== undefined && { signal }),
  }
  const events = await engine.events.subscribe(request)
  if (cli.err.isTerminal && !cli.json) cli.err.line(cli.err.colours.dim('Waiting for events; Ctrl-C ends it.'))
  for await (const event of events) {
    if (event.kind !== 'truncated') printEvent(cli, event, true)
    else if (cli.json) cli.out.line(JSON.stringify(event))
    else cli.err.line('Some events are gone: the log no longer goes back to that cursor.')
  }
}
