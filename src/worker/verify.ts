// Replays recorded runs against changed code, for CI: does the code still reach every recorded step, in the recorded order? The
// replay has no effects: recorded steps return their results, and anything without a record never returns.
import { decodeValue, jsonCodec, type Codec } from '../model/codec.ts'
import { EngineError, refusal } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { oneOf, show } from '../model/text.ts'
import { recordedBy } from './clean-up.ts'
import { forward as codeMode } from './code-mode.ts'
import { Code } from './code.ts'
import { RunLeft } from './errors.ts'
import { NoRecord } from './no-record.ts'
import { checkRecordedRun, stepsOf, type RecordedRun } from './recorded-run.ts'
import { ReplayHistory, same, type ReplayFinding } from './replay-history.ts'
import { claimOf, ReplayHolder, withoutWork } from './replay.ts'
import { checkBy } from './schema.ts'
import { isTask, type Task } from './task.ts'
import { factsAt } from './waits.ts'

export const newStepPlaces = ['end', 'anywhere'] as const

export interface VerifyOptions {
  readonly codec?: Codec
  /**
   * Where the code may have new steps. `end` (the default): after all recorded steps. `anywhere`: also before a recorded step, as
   * a task that is not strict allows. The replay of a run stops at a new step, so with `anywhere` a replaced step passes too.
   */
  readonly allowNew?: (typeof newStepPlaces)[number]
}

export interface VerifiedRun extends ReplayFinding {
  readonly executionId: ExecutionId
}

export interface VerifyReport {
  /** No run differs. */
  readonly ok: boolean
  readonly runs: readonly VerifiedRun[]
  /** One line for each run that is not the same. */
  toString(): string
}

/**
 * Replays recorded runs against the code of a task.
 *
 * @example
 * const report = await verify(onboard, [JSON.parse(await readFile('runs/onboard-1.json', 'utf8'))])
 * if (!report.ok) throw new Error(String(report))
 */
export async function verify(
  // oxlint-disable-next-line typescript/no-explicit-any
  task: Task<any, any, any>,
  runs: readonly RecordedRun[],
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  if (!isTask(task)) throw refusal('invalid_input', 'the task', show(task), 'what task() returned')
  if (!Array.isArray(runs)) throw refusal('invalid_input', 'the runs', show(runs), 'a list of what `export` returned')
  refuseUnknownFields('verify', options, ['codec', 'allowNew'])
  const { codec = jsonCodec, allowNew = 'end' } = options
  if (!newStepPlaces.includes(allowNew)) {
    throw refusal('invalid_input', 'allowNew', show(allowNew), oneOf(allowNew, newStepPlaces))
  }
  const verified: VerifiedRun[] = []
  for (const run of runs.map(checkRecordedRun)) {
    if (run.kind !== task.name) {
      const sentence = `${run.executionId} is a run of ${show(run.kind)}, not of ${show(task.name)}; verify it against that task`
      throw new EngineError('invalid_input', sentence, { task: task.name, kind: run.kind })
    }
    const finding = await replay(task, run, codec, allowNew === 'anywhere' && !task.strict)
    verified.push({ executionId: run.executionId, ...finding })
  }
  return reportOf(verified)
}

export function reportOf(runs: readonly VerifiedRun[]): VerifyReport {
  const others = runs.filter(({ kind }) => kind !== 'same')
  return {
    ok: runs.every(({ kind }) => kind !== 'differs'),
    runs,
    toString: () => others.map(({ executionId, sentence }) => `${executionId}: ${sentence}`).join('\n'),
  }
}

async function replay(task: Task, run: RecordedRun, codec: Codec, allowsInserted: boolean): Promise<ReplayFinding> {
  let stop!: (finding: ReplayFinding) => void
  const stopped = new Promise<ReplayFinding>((resolve) => (stop = resolve))
  const steps = stepsOf(run)
  const attemptIndex = Math.max(0, ...steps.map((step) => step.attemptIndex))
  const claim = claimOf(run, attemptIndex)
  const { forward, mode } = recordedBy(claim, steps)
  const history = new ReplayHistory(forward, attemptIndex, { isStrict: task.strict, allowsInserted, stop })
  // Hooks run after the handler, and are not replayed.
  const replayed = { ...task, hooks: {}, handler: withoutWork(task.handler) }
  const holder = new ReplayHolder(run, claim, codec)
  const code = new Code(holder, replayed, history, factsAt(run.at, null, steps), 'warn', {
    ...codeMode,
    ...mode,
    isStopping: false,
  })
  const ended = async (): Promise<ReplayFinding> => {
    const given = decodeValue(codec, 'the payload', claim.payload, claim.payloadEncoding)
    const input = await checkBy(task.schemas.input, given, `the input of ${task.name}`)
    await code.run(input)
    return history.atEnd()
  }
  const threw = (error: unknown): ReplayFinding => {
    if (code.exit !== null) return history.atEnd()
    if (error instanceof NoRecord) return history.atIdle(run.state === 'completed')
    return atError(error, history, run)
  }
  try {
    return await Promise.race([stopped, ended().catch(threw)])
  } finally {
    code.end()
  }
}

// In these states the code cannot have thrown; in all others it may have.
const withoutThrowing: readonly RecordedRun['state'][] = ['completed', 'suspended', 'resumable']

function atError(error: unknown, history: ReplayHistory, run: RecordedRun): ReplayFinding {
  if (error instanceof RunLeft) return same
  const isRefused = EngineError.is(error, 'step_value_refused')
  const [missing] = history.unreachedSettled
  if (!isRefused && missing === undefined && !withoutThrowing.includes(run.state)) return same
  const message = error instanceof Error ? error.message : String(error)
  const where =
    missing === undefined
      ? 'where the recorded run did not'
      : `before the recorded ${missing.kind} ${show(missing.name)}`
  const sentence = `throws ${where}: ${message}`
  return { kind: 'differs', recorded: missing?.name ?? null, met: null, isRefused, sentence }
}
