import type { Command } from 'commander'
import type { Engine } from '../../engine/contract.ts'
import type { CreateRequest } from '../../engine/execution/create-request.ts'
import type { Duration } from '../../model/duration.ts'
import type { ExecutionId } from '../../model/id.ts'
import { jsonValue, list, tag, wholeNumber } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { bare, executionOf } from '../ids.ts'
import { follow } from '../follow.ts'
import { printEnding, waitForEnding } from '../ending.ts'
import { warnOfUnknownKind } from '../unknown-kind.ts'
import { payloadOf } from './signal.ts'

interface SubmitFlags {
  readonly wait?: true | Duration
  readonly watch?: boolean
  readonly lane?: string
  readonly priority?: number
  readonly delay?: Duration
  readonly deadline?: Duration
  readonly attempts?: number
  readonly taskVersion?: string
  readonly capability?: readonly string[]
  readonly key?: string
  readonly tag?: Readonly<Record<string, string>>
  readonly parent?: string
}

export function addSubmit(program: Command, cli: Cli): void {
  const command = program
    .command('submit')
    .description('submit an execution and print its id')
    .argument('<kind>', 'task to run')
    .argument('[input]', 'JSON; - reads stdin, @file a file')
    .option('--wait [duration]', 'wait until it ends and print its result; exit code 1 unless it completed')
    .option('--watch', 'print its events, then its result')
    .option('--lane <lane>', 'lane to submit to (default: the lane of its task, else default)')
    .option('--priority <n>', '0 to 9000, highest first', wholeNumber)
    .option('--delay <duration>', 'start after this long')
    .option('--deadline <duration>', 'expire after this long')
    .option('--attempts <n>', 'number of attempts (default: as its registered task says, else 1)', wholeNumber)
    .option('--task-version <version>', 'run only on workers with this version')
    .option('--capability <name>', 'run only on workers with this capability; repeatable', list)
    .option('--key <key>', 'idempotency key: a repeat returns the same execution')
    .option('--tag <key=value>', 'tag of the execution; repeatable', tag)
    .option('--parent <id>', 'parent execution')
    .addHelpText(
      'after',
      examples(
        `submit send-welcome '{"to":"ada@example.com"}'`,
        'submit report @input.json --lane night --delay 2h --key report-2026-11',
        'submit charge-card 42 --attempts 3 --watch',
        'submit send-welcome < input.json - --wait 1m --json',
      ),
    )
  cli.does(command, async (options: SubmitFlags, kind: string, input?: string) => {
    const value = await jsonValue('the input', input, cli.host)
    return cli.connected(async ({ engine }) => {
      const { parent } = options
      const ofParent = parent === undefined ? {} : { parentId: await executionOf(engine, parent) }
      const request = { ...requestOf(kind, options), ...ofParent, ...(await payloadOf(value)) }
      if (options.watch === true) return submitAndWatch(cli, engine, request)
      const answer = await engine.executions.create(request)
      await warnOfUnknownKind(cli, engine, kind, answer)
      if (options.wait === undefined) return printAccepted(cli, answer)
      printId(cli, answer)
      const ended = await waitForEnding(cli, engine, answer.executionId, options.wait === true ? null : options.wait)
      return printEnding(cli, engine, answer.executionId, ended)
    })
  })
}

function requestOf(kind: string, options: SubmitFlags): CreateRequest {
  const { lane, priority, delay, deadline, attempts, taskVersion, capability, key, tag: tags } = options
  return {
    kind,
    ...(lane !== undefined && { lane }),
    ...(priority !== undefined && { priority }),
    ...(delay !== undefined && { delay }),
    ...(deadline !== undefined && { deadline }),
    ...(attempts !== undefined && { policy: { retry: { attempts } } }),
    ...(taskVersion !== undefined && { version: taskVersion }),
    ...(capability !== undefined && { requiredCapabilities: capability }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(tags !== undefined && { tags }),
  }
}

type Accepted = Awaited<ReturnType<Engine['executions']['create']>>

function printAccepted(cli: Cli, answer: Accepted): void {
  if (cli.json) return cli.out.json(answer)
  // Only the id, for `id=$(flowfabric submit ...)`.
  if (!cli.out.isTerminal) return cli.out.line(bare(answer.executionId))
  const again = answer.kind === 'duplicate' ? 'was already submitted, and is' : 'is'
  cli.out.line(`${bare(answer.executionId)} ${cli.out.colours.dim(`${again} ${answer.publicState}`)}`)
  if (answer.kind === 'created' && answer.adjusted !== undefined) {
    const { given, used } = answer.adjusted.priority
    cli.err.line(`priority ${given} is out of range; ${used} is used`)
  }
  const policy = policyLine(answer)
  if (policy !== null) cli.out.line(cli.out.colours.dim(policy))
}

const sources = {
  request: 'as given',
  registered: 'from the registered task',
  task_defaults: 'from the task',
  default: 'by default',
} as const

function policyLine(answer: Accepted): string | null {
  if (answer.kind !== 'created' || answer.applied === undefined) return null
  const { attempts, attemptsFrom, lane, laneFrom } = answer.applied
  const runs = `${attempts} attempt${attempts === 1 ? '' : 's'}`
  if (attemptsFrom === laneFrom) return `${runs}, lane ${lane} (${sources[laneFrom]})`
  return `${runs} (${sources[attemptsFrom]}), lane ${lane} (${sources[laneFrom]})`
}

/** For a person; a program that waits for the result reads only that. */
function printId(cli: Cli, { executionId, kind }: Accepted): void {
  if (cli.err.isTerminal && !cli.json) cli.err.line(cli.err.colours.dim(`${bare(executionId)} ${kind}`))
}

async function submitAndWatch(cli: Cli, engine: Engine, request: CreateRequest): Promise<number> {
  const answer = await engine.executions.create(request)
  const { executionId } = answer
  await warnOfUnknownKind(cli, engine, request.kind, answer)
  printId(cli, answer)
  const hasEnded = await follow(cli, engine, executionId)
  if (!hasEnded) return printContinues(cli, executionId)
  const ended = await engine.executions.result(executionId)
  return printEnding(cli, engine, executionId, ended)
}

export function printContinues(cli: Cli, executionId: ExecutionId): number {
  cli.err.line(`${bare(executionId)} has not ended; \`flowfabric show ${bare(executionId)}\` shows its state`)
  return 1
}
