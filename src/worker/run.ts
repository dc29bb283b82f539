// One run of a claim's code: what was recorded is read, the input decoded, the handler called, and what it gave encoded.
import type { Claim } from '../engine/execution/claim.ts'
import type { Step } from '../engine/step/step.ts'
import type { Resumption } from '../engine/waiting/suspension/resumption.ts'
import { decodeValue, encodeValue, type Codec, type Encoded } from '../model/codec.ts'
import { limits } from '../model/limits.ts'
import { ignoresDebug, type Logger } from '../model/logger.ts'
import { cleanUp, reasonToCleanUp, recordedBy } from './clean-up.ts'
import { Code } from './code.ts'
import { PermanentError, RunLeft } from './errors.ts'
import { History, nondeterminism } from './history.ts'
import { Holder } from './holder.ts'
import type { Lease } from './lease.ts'
import { through, type Middleware } from './middleware.ts'
import { cut, messageOf, type Outcome, type OutcomeDeps } from './outcome.ts'
import type { ProcessClock } from './process-clock.ts'
import { reportEnd, reportStart, reportUnreached } from './report.ts'
import { whole } from './resumed-signals.ts'
import { checkBy, type Schema } from './schema.ts'
import type { Task } from './task.ts'
import type { AroundStep } from './telemetry.ts'
import type { UnawaitedMode } from './unawaited.ts'
import { factsAt } from './waits.ts'

export interface RunDeps extends OutcomeDeps {
  readonly middleware: readonly Middleware[]
  readonly leaseTtlMs: number
  /** Left out: the process's own. */
  readonly clock?: ProcessClock
  readonly aroundStep?: AroundStep | undefined
  readonly unawaited: UnawaitedMode
}

const none: readonly Step[] = []
const lost: Outcome = { kind: 'left', how: 'lost' }

/** Never rejects. As few promises as can be: a worker's memory is made of what its runs hold (measured: 0.5 KB each). */
export function run(deps: RunDeps, task: Task, claim: Claim, lease: Lease): Promise<Outcome> {
  const { engine, codec, logger, clock, aroundStep } = deps
  const holder = new Holder(engine, claim, codec, logger, lease, clock, aroundStep)
  reportStart(logger, lease, claim.reason)
  // Only a first run can have recorded nothing.
  const running = claim.reason === 'first' ? runAfter(none, null, deps, holder, task) : runAgain(deps, holder, task)
  return ignoresDebug(logger) ? running : withEndReported(running, logger, lease)
}

async function withEndReported(running: Promise<Outcome>, logger: Logger, lease: Lease): Promise<Outcome> {
  const startedAt = performance.now()
  const outcome = await running
  const word = outcome.kind === 'left' ? outcome.how : outcomeWords[outcome.kind]
  reportEnd(logger, lease, word, performance.now() - startedAt)
  return outcome
}

const outcomeWords = {
  returned: 'returned',
  threw: 'threw',
  retry: 'asked for a retry',
  cancel: 'cancelled itself',
  restart: 'restarted',
} as const

async function runAgain(deps: RunDeps, holder: Holder, task: Task): Promise<Outcome> {
  try {
    const { resumption } = holder.claim
    const steps = await holder.steps()
    return await runAfter(steps, resumption && (await whole(holder, resumption)), deps, holder, task)
  } catch (error) {
    return holder.lease.isLost ? lost : { kind: 'threw', error }
  }
}

async function runAfter(
  steps: readonly Step[],
  resumption: Resumption | null,
  { middleware, leaseTtlMs, unawaited }: RunDeps,
  holder: Holder,
  task: Task,
): Promise<Outcome> {
  const { claim, lease } = holder
  if (!lease.holds()) return lost
  const { forward, marker, mode } = recordedBy(claim, steps)
  const history = new History(forward, claim.attemptIndex, task.strict)
  const claimedAt = claim.leaseExpiresAt - leaseTtlMs
  const facts = factsAt(claimedAt, mode?.isStopping === true ? null : resumption, steps)
  const code = new Code(holder, task, history, facts, unawaited, mode)
  let input: unknown
  const outcome = await runCode()
  const why = reasonToCleanUp(holder, code, outcome, marker)
  if (why === null) {
    code.end()
    return outcome
  }
  await code.compensations?.settled()
  code.end()
  return cleanUp({ holder, task, code, steps, facts, input }, why)

  async function runCode(): Promise<Outcome> {
    try {
      const { input: inputSchema, output } = task.schemas
      const given = payloadOf(holder)
      input = inputSchema === undefined ? given : await inputOf(inputSchema, given, task)
      const value = await runThrough(middleware, code, input)
      if (code.exit !== null) return code.exit
      if (code.wasStopped) return { kind: 'returned', result: undefined, encoding: undefined }
      code.checkAwaited()
      if (steps.length > 0) await warnOfUnreached(holder, history)
      return returned(holder, task, output === undefined ? value : await outputOf(output, value, task))
    } catch (error) {
      if (holder.lease.isLost) return lost
      if (code.exit !== null) return code.exit
      return error instanceof RunLeft ? { kind: 'left', how: error.how } : { kind: 'threw', error }
    }
  }
}

function runThrough(middleware: readonly Middleware[], code: Code, input: unknown): Promise<unknown> {
  if (middleware.length === 0) return code.run(input)
  return code.around(() => through(middleware, code.context, () => code.run(input)))
}

// What fails in the following would fail again.

function payloadOf({ claim, codec }: Holder): unknown {
  try {
    return decodeValue(codec, 'the payload', claim.payload, claim.payloadEncoding)
  } catch (error) {
    return failForGood(error)
  }
}

function inputOf(schema: Schema, given: unknown, task: Task): Promise<unknown> {
  return checkBy(schema, given, `the input of ${task.name}`).catch(failForGood)
}

function outputOf(schema: Schema, value: unknown, task: Task): Promise<unknown> {
  return checkBy(schema, value, `the result of ${task.name}`).catch(failForGood)
}

function returned({ codec }: Holder, task: Task, value: unknown): Outcome {
  const encoded = resultOf(codec, task, value)
  if (encoded !== null && encoded.bytes.byteLength > limits.resultBytes) {
    const found = `the result of ${task.name} is ${encoded.bytes.byteLength} bytes`
    throw new PermanentError(
      `${found}; at most ${limits.resultBytes} are stored. Keep it elsewhere and return a reference`,
    )
  }
  return { kind: 'returned', result: encoded?.bytes, encoding: encoded?.encoding }
}

function resultOf(codec: Codec, task: Task, value: unknown): Encoded | null {
  try {
    return encodeValue(codec, `the result of ${task.name}`, value)
  } catch (error) {
    return failForGood(error)
  }
}

function failForGood(error: unknown): never {
  throw error instanceof PermanentError ? error : new PermanentError(messageOf(error), { cause: error })
}

/** The code has probably changed since: a strict task fails; for others the log and the timeline say so. */
async function warnOfUnreached(holder: Holder, history: History): Promise<void> {
  const { engine, fence, lease, logger } = holder
  const unreached = history.unreachedSettled
  if (unreached.length === 0) return
  const steps = unreached.map(({ name }) => name)
  const sentence = unreachedText(unreached)
  if (history.isStrict) throw nondeterminism(sentence, { expected: steps })
  const reason = `${sentence}; give changed code a new version`
  const few = steps.slice(0, 20)
  await holder.retryWhileLeased(() =>
    engine.executions.warn({ ...fence, reason: cut(reason), details: { steps: few } }),
  )
  reportUnreached(logger, lease, reason, few)
}

/** `recorded step "a" was not reached by the current code` */
function unreachedText(steps: readonly Step[]): string {
  const few = steps.slice(0, 20).map(({ kind, name }) => `${kind} ${JSON.stringify(name)}`)
  const more = steps.length > few.length ? ` and ${steps.length - few.length} more` : ''
  const verb = steps.length === 1 ? 'was' : 'were'
  return `recorded ${few.join(', ')}${more} ${verb} not reached by the current code`
}
