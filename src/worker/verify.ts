// Runs new code over what earlier runs have recorded, for CI: does it meet the same names in the same order? Nothing is done on
// the way: steps give their records, and the first thing that has no record stops the replay.
import { decodeValue, jsonCodec, type Codec } from '../model/codec.ts'
import { EngineError, refusal } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import type { StepKind } from '../model/step.ts'
import { show } from '../model/text.ts'
import { Code } from './code.ts'
import { RunLeft } from './errors.ts'
import { History, type Met } from './history.ts'
import { checkRecordedRun, stepsOf, type RecordedRun } from './recorded-run.ts'
import { claimOf, ReplayHolder, withoutWork } from './replay.ts'
import { checkBy } from './schema.ts'
import { isTask, type Task } from './task.ts'
import { factsAt } from './waits.ts'

/**
 * `same`: the code goes the recorded way, to its end or to where the run stands. `new`: it goes the recorded way and then meets
 * something that has no record. `differs`: where something is recorded, it meets something else, or nothing.
 */
export interface VerifiedRun {
  readonly executionId: ExecutionId
  readonly kind: 'same' | 'new' | 'differs'
  /** What is recorded there, and what the code meets instead; null: nothing. */
  readonly recorded: string | null
  readonly met: string | null
  /** A worker would fail this run for good: the task is strict, or a name has changed its kind, or a value is refused. */
  readonly isRefused: boolean
  readonly sentence: string
}

export interface VerifyReport {
  /** No run differs. */
  readonly ok: boolean
  readonly runs: readonly VerifiedRun[]
  /** Those that are not the same, a line each. */
  toString(): string
}

type Verdict = Omit<VerifiedRun, 'executionId'>

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
  { codec = jsonCodec }: { readonly codec?: Codec } = {},
): Promise<VerifyReport> {
  if (!isTask(task)) throw refusal('invalid_input', 'the task', show(task), 'what task() gave')
  if (!Array.isArray(runs)) throw refusal('invalid_input', 'the runs', show(runs), 'a list of what `export` gave')
  const verified: VerifiedRun[] = []
  for (const run of runs.map(checkRecordedRun)) {
    if (run.kind !== task.name) {
      const sentence = `${run.executionId} is a run of ${show(run.kind)}, and not of ${show(task.name)}; verify it against that one`
      throw new EngineError('invalid_input', sentence, { task: task.name, kind: run.kind })
    }
    verified.push({ executionId: run.executionId, ...(await verdictOf(task, run, codec)) })
  }
  const others = verified.filter(({ kind }) => kind !== 'same')
  return {
    ok: verified.every(({ kind }) => kind !== 'differs'),
    runs: verified,
    toString: () => others.map(({ executionId, sentence }) => `${executionId}: ${sentence}`).join('\n'),
  }
}

async function verdictOf(task: Task, run: RecordedRun, codec: Codec): Promise<Verdict> {
  let stop!: (verdict: Verdict) => void
  const stopped = new Promise<Verdict>((resolve) => (stop = resolve))
  const steps = stepsOf(run)
  const attemptIndex = Math.max(0, ...steps.map((step) => step.attemptIndex))
  const claim = claimOf(run, attemptIndex)
  const holder = new ReplayHolder(run, claim, codec, () => stop(same))
  const history = new ReplayHistory(steps, attemptIndex, task.strict, run, stop)
  const replayed = { ...task, handler: withoutWork(task.handler, () => stop(same)) }
  const code = new Code(holder, replayed, history, factsAt(run.at, null, steps))
  const ended = async (): Promise<Verdict> => {
    const given = decodeValue(codec, 'the payload', claim.payload, claim.payloadEncoding)
    const input = await checkBy(task.schemas.input, given, `the input of ${task.name}`)
    await code.run(input)
    return atEnd(history, task.strict)
  }
  return Promise.race([
    stopped,
    ended().catch((error: unknown) =>
      code.departure === null ? atError(error, history, run) : atEnd(history, task.strict),
    ),
  ])
}

const same: Verdict = { kind: 'same', recorded: null, met: null, isRefused: false, sentence: 'goes the recorded way' }

function atEnd(history: ReplayHistory, isStrict: boolean): Verdict {
  const [missing] = history.notMet
  if (missing === undefined) return same
  const sentence = `ends without the ${missing.kind} ${show(missing.name)}, which is recorded`
  return { kind: 'differs', recorded: missing.name, met: null, isRefused: isStrict, sentence }
}

// Whatever else a run is, it may be because its code has thrown; to these it came without.
const withoutThrowing: readonly RecordedRun['state'][] = ['completed', 'suspended', 'resumable']

function atError(error: unknown, history: ReplayHistory, run: RecordedRun): Verdict {
  if (error instanceof RunLeft) return same
  const isRefused = EngineError.is(error, 'step_value_refused')
  const [missing] = history.unmet
  if (!isRefused && missing === undefined && !withoutThrowing.includes(run.state)) return same
  const message = error instanceof Error ? error.message : String(error)
  const where =
    missing === undefined ? 'where it did not' : `before the ${missing.kind} ${show(missing.name)}, which is recorded`
  const sentence = `throws ${where}: ${message}`
  return { kind: 'differs', recorded: missing?.name ?? null, met: null, isRefused, sentence }
}

/** Strict, whatever the task is: what differs is told. */
class ReplayHistory extends History {
  readonly #steps: readonly { readonly name: string; readonly place: number }[]
  readonly #isTaskStrict: boolean
  readonly #isWaiting: boolean
  readonly #stop: (verdict: Verdict) => void
  #last: string | null = null

  constructor(
    steps: ConstructorParameters<typeof History>[0],
    attemptIndex: number,
    isStrict: boolean,
    run: RecordedRun,
    stop: (verdict: Verdict) => void,
  ) {
    super(steps, attemptIndex, true)
    this.#steps = steps
    this.#isTaskStrict = isStrict
    this.#isWaiting = run.state === 'suspended' || run.state === 'resumable'
    this.#stop = stop
  }

  override meet(kind: StepKind, name: string): Met {
    try {
      const met = super.meet(kind, name)
      // A wait without a timeout is recorded when it is over: it may be the one that the run is in.
      const mayBeThere = kind === 'wait' && this.#isWaiting
      if (met.recorded === null && !mayBeThere) this.#stop(this.#newAt(kind, name, null))
      this.#last = name
      return met
    } catch (error) {
      this.#stop(this.#refused(kind, name, error))
      throw error
    }
  }

  #newAt(kind: StepKind, name: string, recorded: string | null): Verdict {
    const where = this.#last === null ? 'begins with' : `goes on after ${show(this.#last)} with`
    const instead = recorded === null ? '' : `, where ${show(recorded)} is recorded`
    const sentence = `${where} the new ${kind} ${show(name)}${instead}`
    const isRefused = recorded !== null && this.#isTaskStrict
    return { kind: 'new', recorded, met: name, isRefused, sentence }
  }

  #refused(kind: StepKind, name: string, error: unknown): Verdict {
    if (!EngineError.is(error)) throw error
    const expected = error.details['expected']
    const recorded = typeof expected === 'string' ? expected : null
    const isKnown = this.#steps.some((step) => step.name === name)
    if (EngineError.is(error, 'nondeterminism') && !isKnown) return this.#newAt(kind, name, recorded)
    const sentence =
      recorded === null ? error.message : `meets the ${kind} ${show(name)} where ${show(recorded)} is recorded`
    const isRefused = this.#isTaskStrict || EngineError.is(error, 'step_kind_conflict')
    return { kind: 'differs', recorded: recorded ?? name, met: name, isRefused, sentence }
  }
}
