import type { Command } from 'commander'
import type { Attempt } from '../../engine/attempt/list.ts'
import type { Engine } from '../../engine/contract.ts'
import type { LogEvent } from '../../engine/event/log-event.ts'
import type { ExecutionInput } from '../../engine/execution/input.ts'
import type { ExecutionResult } from '../../engine/execution/result.ts'
import type { Execution } from '../../engine/execution/snapshot.ts'
import type { Step } from '../../engine/step/step.ts'
import type { Waitpoint } from '../../engine/waiting/waitpoint/list.ts'
import { EngineError } from '../../model/errors.ts'
import type { Explanation } from '../../model/explain.ts'
import type { ExecutionId } from '../../model/id.ts'
import { wholeNumber } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { executionOf } from '../ids.ts'
import { examples } from '../examples.ts'
import { collect } from '../pages.ts'
import { readable, withValues } from '../value.ts'
import { showError } from '../show-error.ts'
import { showLongValue } from '../show-value.ts'
import { showAttempts, showEvents, showFacts, showSteps, showWaitpoints } from '../show-execution.ts'

export function addShow(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('show an execution: why it is not running, its input, result or error, steps, attempts and events')
    .argument('<id>', 'execution id or prefix')
    .option('--limit <n>', 'show the last n steps, attempts and events (default: 20)', wholeNumber)
    .addHelpText('after', examples('show 0190b6d2-4f1c', 'show 0190b6d2-4f1c --json'))
  cli.does(command, ({ limit }: { limit?: number }, id: string) =>
    cli.connected(async ({ engine }) => {
      if (limit !== undefined && limit < 0)
        throw new EngineError('invalid_input', `--limit is ${limit}; it must be 0 or more`)
      const whole = await read(engine, (await executionOf(engine, id)) as ExecutionId)
      if (cli.json) cli.out.json(asJson(whole))
      else print(cli, whole, await engine.serverTime(), limit ?? 20)
    }),
  )
}

interface WholeExecution {
  readonly execution: Execution
  readonly explanation: Explanation | null
  readonly input: ExecutionInput | null
  readonly result: ExecutionResult | null
  readonly waitpoints: readonly Waitpoint[]
  readonly steps: readonly Step[]
  readonly attempts: readonly Attempt[]
  readonly events: readonly LogEvent[]
}

// More than a person reads; as JSON, more than a program should receive at once.
const most = 10_000

async function read(engine: Engine, id: ExecutionId): Promise<WholeExecution> {
  const execution = await engine.executions.describe(id)
  if (execution === null) {
    throw new EngineError('execution_not_found', `execution ${id} does not exist`, { executionId: id })
  }
  const page = { limit: 1000 }
  const [explanation, input, result, waitpoints, steps, attempts, events] = await Promise.all([
    engine.executions.explain(id),
    engine.executions.input(id),
    engine.executions.result(id),
    engine.waitpoints.list(id, page),
    collect(most, async (from) => {
      const { steps: rows, nextCursor } = await engine.steps.list(id, { ...page, ...from })
      return { rows, nextCursor }
    }),
    collect(most, async (from) => {
      const { attempts: rows, nextCursor } = await engine.attempts.list(id, { ...page, ...from })
      return { rows, nextCursor }
    }),
    collect(most, async (from) => {
      const { events: rows, nextCursor } = await engine.events.timeline(id, { ...page, ...from })
      return { rows, nextCursor }
    }),
  ])
  return {
    execution,
    explanation,
    input,
    result,
    waitpoints: waitpoints.waitpoints,
    steps: steps.rows,
    attempts: attempts.rows,
    events: events.rows,
  }
}

function asJson({
  execution,
  explanation,
  input,
  result,
  waitpoints,
  steps,
  attempts,
  events,
}: WholeExecution): unknown {
  const { facts: _facts, ...why } = explanation ?? { facts: null }
  return {
    execution,
    explanation: explanation === null ? null : why,
    input: input === null ? null : readable(input.payload, input.encoding),
    result: result?.kind === 'completed' ? readable(result.result, result.encoding) : null,
    waitpoints,
    steps: steps.map(withValues),
    attempts: attempts.map(withValues),
    events,
  }
}

function print(cli: Cli, whole: WholeExecution, now: number, limit: number): void {
  const { execution, input, result, waitpoints, steps, attempts, events } = whole
  showFacts(cli.out, whole, now)
  if (input !== null) showLongValue(cli.out, 'Input', { bytes: input.payload, encoding: input.encoding })
  if (result?.kind === 'completed') {
    showLongValue(cli.out, 'Result', { bytes: result.result, encoding: result.encoding })
  }
  showError(cli.out, execution, attempts)
  showWaitpoints(cli.out, waitpoints, now)
  showSteps(cli.out, steps, limit)
  showAttempts(cli.out, attempts, limit, now)
  showEvents(cli.out, events, limit, now)
}
