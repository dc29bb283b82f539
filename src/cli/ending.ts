// Waits for the ending of an execution at the command line, and prints it.
import type { Engine } from '../engine/contract.ts'
import type { ExecutionResult } from '../engine/execution/result.ts'
import { outlast } from '../connect/outlast.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError } from '../model/errors.ts'
import { decodeError } from '../model/recorded-error.ts'
import type { Cli } from './cli.ts'
import { failed } from './failure.ts'
import { bare, bareIds } from './ids.ts'
import { collect } from './pages.ts'
import { harmless } from './text.ts'
import { readable } from './value.ts'

// How long one request waits for the ending; and how long a person at a terminal waits for the first line.
const longestWaitMs = 20_000
const patienceMs = 3000

/** Pending when the time was over, or the user pressed Ctrl-C. */
export async function waitForEnding(
  cli: Cli,
  engine: Engine,
  id: string,
  timeout: Duration | null,
): Promise<ExecutionResult | null> {
  const until = timeout === null ? Infinity : performance.now() + parseDuration('--wait', timeout)
  const signal = cli.host.interruption?.()
  let patience = patienceMs
  for (;;) {
    const longestMs = Math.min(longestWaitMs, patience)
    const found = await outlast({ until, signal }, () => {
      const wait = Math.ceil(Math.max(0, Math.min(until - performance.now(), longestMs)))
      return engine.executions.result(id, { wait, ...(signal !== undefined && { signal }) })
    })
    if (found?.kind !== 'pending' || performance.now() >= until || signal?.aborted === true) return found
    if (patience === patienceMs) await sayWhy(cli, engine, id)
    patience = Infinity
  }
}

async function sayWhy(cli: Cli, engine: Engine, id: string): Promise<void> {
  if (!cli.err.isTerminal || cli.json) return
  const explanation = await engine.executions.explain(id)
  if (explanation !== null) cli.err.sentence(explanation.sentence)
}

/** Prints it; the exit code is 0 only for a success. */
export async function printEnding(
  cli: Cli,
  engine: Engine,
  executionId: string,
  ended: ExecutionResult | null,
): Promise<number> {
  if (ended === null) throw new EngineError('execution_not_found', `execution ${executionId} does not exist`)
  const id = bare(executionId)
  if (ended.kind === 'completed') {
    const result = readable(ended.result, ended.encoding)
    cli.out.json(cli.json ? { kind: 'completed', executionId, result } : result)
    return 0
  }
  if (ended.kind === 'pending') {
    if (cli.json) cli.out.json({ ...ended, executionId })
    else cli.err.line(`${id} has not ended, it is ${ended.publicState}; \`flowfabric show ${id}\` shows why`)
    return failed
  }
  const error = await lastError(engine, executionId)
  if (cli.json) cli.out.json({ ...ended, executionId, error })
  else {
    const how = ended.kind === 'failed' ? 'failed' : `was ${ended.kind}`
    const why = ended.reason === null ? '' : `: ${bareIds(ended.reason)}`
    cli.err.line(`${cli.err.colours.red(`${id} ${how}`)}${harmless(why)}`)
  }
  return failed
}

async function lastError(engine: Engine, id: string): Promise<unknown> {
  const { rows } = await collect(10_000, async (from) => {
    const { attempts, nextCursor } = await engine.attempts.list(id, { limit: 1000, ...from })
    return { rows: attempts, nextCursor }
  })
  const last = rows.findLast((attempt) => attempt.error !== null)
  return last === undefined ? null : decodeError({ bytes: last.error!, encoding: last.errorEncoding! })
}
