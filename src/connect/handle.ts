// The handle that a submit returns: one execution, as its submitter uses it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/contract.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { CancelRequest, CancelResult } from '../engine/execution/cancel.ts'
import type { ExecutionResult } from '../engine/execution/result.ts'
import type { SignalResult } from '../engine/waiting/signal/incoming.ts'
import type { SendRequest } from '../engine/waiting/signal/send.ts'
import { decodeValue, encodeValue, type Codec } from '../model/codec.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError, type ErrorCode } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import { originOf, reviveError, withoutStacks } from '../model/revived-error.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { signalHint } from '../model/signal-hint.ts'
import type { PublicState } from '../model/state.ts'
import { outlast } from './outlast.ts'
import { nothingWhenForbidden } from '../worker/errors.ts'
import { lastError, openedReason } from '../worker/last-error.ts'
import { exportRun, type RecordedRun } from '../worker/recorded-run.ts'
import { checkBy, type Schema } from '../worker/schema.ts'
import type { Signals } from '../worker/task.ts'

export interface ResultOptions {
  /**
   * Throws `wait_timed_out`, with the sentence of `explain`, when the execution has not ended by then. Left out: waits
   * without a limit.
   */
  readonly timeout?: Duration
  /** Ends the wait; the execution continues. */
  readonly signal?: AbortSignal
}

/** One submitted execution: wait for its result, read its state, signal or cancel it. */
export interface Handle<Output = unknown, S extends Signals = Signals> {
  /** Store it to find the execution again, with `ff.handle(id)`. */
  readonly id: ExecutionId
  /**
   * Waits until it has ended and returns its result. Throws when it ended in another way: `execution_failed` names the step that
   * failed, and its `cause` is the error that was thrown, with the name, message, stack, fields and causes that were recorded. Its
   * class is not restored, so that `instanceof BankError` is false: compare `error.cause.name`.
   */
  result(options?: ResultOptions): Promise<Output>
  /** Its state now, such as `waiting`, `active`, `suspended` or `completed`. */
  state(): Promise<PublicState>
  /**
   * Cancels it. Running code is asked to stop, and has until the end of `grace` to do so. A run with compensations undoes its work
   * first, until `deadline`; `force` ends it at once.
   */
  cancel(options?: Pick<CancelRequest, 'reason' | 'grace' | 'deadline' | 'force'>): Promise<CancelResult>
  /** Sends a signal. It is kept until a `ctx.waitFor` of that name takes it, once. */
  signal<Name extends string & keyof S>(
    name: Name,
    ...payload: undefined extends S[Name] ? [payload?: S[Name]] : [payload: S[Name]]
  ): Promise<SignalResult>
  /** Its events so far, oldest first. */
  events(): AsyncIterableIterator<LogEvent>
  /** Its input and records, as JSON: for `verify`, to replay it against changed code. */
  export(): Promise<RecordedRun>
}

type SignalSchemas = Readonly<Record<string, Schema<unknown, unknown>>>

// Kept apart from the handle, which is for users.
const schemasOf = new WeakMap<object, SignalSchemas>()

// How long one request waits for the ending, before it is repeated.
const longestWaitMs = 30_000
// How long a wait that has timed out may take to read why the execution has not ended.
const longestExplainMs = 2000

export function handleOf(engine: Engine, codec: Codec, id: ExecutionId, signals: SignalSchemas): Handle {
  const handle: Handle = {
    id,
    result: (options = {}) => waitForResult(engine, codec, id, options),
    async state() {
      const found = await engine.executions.describe(id)
      if (found === null) throw notFound(id)
      return found.publicState
    },
    cancel: (options = {}) => engine.executions.cancel({ ...options, executionId: id }),
    signal: async (name, ...[payload]) => {
      const result = await engine.signals.send(await signalTo(handle, codec, name, payload))
      if (result.effect !== 'kept_for_condition' || result.hint !== undefined) return result
      const hint = signalHint(name, Object.keys(signals), 'the task declares the signals')
      return hint === undefined ? result : { ...result, hint }
    },
    events: () => eventsOf(engine, id),
    export: () => exportRun(engine, id),
  }
  schemasOf.set(handle, signals)
  return handle
}

/** The payload is checked against its schema here, where the mistake is. It is sent as it was passed. */
export async function signalTo(
  run: Pick<Handle, 'id'>,
  codec: Codec,
  name: string,
  payload: unknown,
): Promise<SendRequest> {
  const what = `the signal ${JSON.stringify(name)}`
  const schemas = schemasOf.get(run)
  await checkBy(schemas !== undefined && Object.hasOwn(schemas, name) ? schemas[name] : undefined, payload, what)
  const encoded = encodeValue(codec, what, payload)
  const content = encoded === null ? {} : { payload: encoded.bytes, payloadEncoding: encoded.encoding }
  return { executionId: run.id, name, ...content }
}

async function waitForResult(engine: Engine, codec: Codec, id: ExecutionId, options: ResultOptions): Promise<unknown> {
  refuseUnknownFields('result', options, ['timeout', 'signal'])
  const { timeout, signal } = options
  const until = timeout === undefined ? Infinity : performance.now() + parseDuration('timeout', timeout)
  for (;;) {
    const found = await outlast({ until, signal }, () => {
      const wait = Math.max(0, Math.min(Math.ceil(until - performance.now()), longestWaitMs))
      return engine.executions.result(id, { wait, ...(signal !== undefined && { signal }) })
    })
    signal?.throwIfAborted()
    if (found === null) throw notFound(id)
    if (found.kind === 'completed') return decodeValue(codec, `the result of ${id}`, found.result, found.encoding)
    if (found.kind !== 'pending') {
      throw await outlast({ until, signal }, () => endedOtherwise(engine, codec, id, found))
    }
    if (performance.now() < until) continue
    throw await timedOut(engine, id, found.publicState, timeout!)
  }
}

async function timedOut(
  engine: Engine,
  executionId: ExecutionId,
  publicState: PublicState,
  timeout: Duration,
): Promise<EngineError> {
  const timeoutMs = parseDuration('timeout', timeout)
  const explanation = await explained(engine, executionId)
  const within = timeoutMs < 1000 ? `${timeoutMs} ms` : `${timeoutMs / 1000} s`
  const why = explanation === null ? `It is ${publicState}.` : withSubject(explanation)
  const sentence = `execution ${executionId} did not finish within ${within}. ${why}`
  return new EngineError('wait_timed_out', sentence, { executionId, publicState, timeoutMs, explanation })
}

/** Most explanations begin with their verb: `Has been waiting for a worker`. */
function withSubject(explanation: string): string {
  const [verb = '', ...rest] = explanation.split(' ')
  return /^(Has|Is|Was|Failed;?|Lost|Completed|Expired)$/.test(verb)
    ? ['It', verb.toLowerCase(), ...rest].join(' ')
    : explanation
}

/** Null when the caller's key lacks the right, or when the read takes too long: the caller's time is over already. */
async function explained(engine: Engine, id: ExecutionId): Promise<string | null> {
  const reading = engine.executions.explain(id).then(
    (found) => found?.sentence ?? null,
    () => null,
  )
  const enough = new AbortController()
  const late = sleep(longestExplainMs, null, { signal: enough.signal }).catch(() => null)
  return Promise.race([reading, late]).finally(() => enough.abort())
}

type UnsuccessfulEnding = Exclude<ExecutionResult, { kind: 'pending' | 'completed' }>

const codeOf: Readonly<Record<UnsuccessfulEnding['kind'], ErrorCode>> = {
  failed: 'execution_failed',
  cancelled: 'execution_cancelled',
  expired: 'execution_expired',
  skipped: 'execution_skipped',
}

async function endedOtherwise(
  engine: Engine,
  codec: Codec,
  id: ExecutionId,
  ended: UnsuccessfulEnding,
): Promise<EngineError> {
  const { kind } = ended
  const hasThrown = kind === 'failed' || kind === 'expired'
  const error = hasThrown ? await lastError(engine, codec, id).catch(nothingWhenForbidden) : undefined
  const reason = openedReason(ended.reason, error)
  const sentence = `execution ${id} ${kind === 'failed' ? 'failed' : `was ${kind}`}${reason === null ? '' : `: ${reason}`}`
  if (error === undefined) return new EngineError(codeOf[kind], sentence, { executionId: id, reason })
  const origin = originOf(error)
  const step = origin.step === undefined ? {} : { step: origin.step }
  const details = { executionId: id, reason, ...step, error: withoutStacks(error) }
  return new EngineError(codeOf[kind], sentence, details, { cause: reviveError(origin.error) })
}

async function* eventsOf(engine: Engine, id: ExecutionId): AsyncIterableIterator<LogEvent> {
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await engine.events.timeline(id, { limit: 1000, ...from })
    yield* page.events
    cursor = page.nextCursor
  } while (cursor !== null)
}

function notFound(executionId: ExecutionId): EngineError {
  return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
}
