// The life of a run: one claim of an execution, from the claim to its outcome. The function `run` is the whole story; the class
// below holds what the steps share.
import type { Claim } from '../engine/execution/claim.ts'
import type { Step } from '../engine/step/step.ts'
import type { Resumption } from '../engine/waiting/suspension/resumption.ts'
import { ignoresDebug } from '../model/logger.ts'
import { cleanUp, reasonToCleanUp, recordedBy, type CleanUpReason } from './clean-up.ts'
import { Code } from './code.ts'
import { RunLeft } from './errors.ts'
import { History } from './history.ts'
import { Holder } from './holder.ts'
import type { Lease } from './lease.ts'
import { through, type Middleware } from './middleware.ts'
import type { Outcome, OutcomeDeps } from './outcome.ts'
import type { ProcessClock } from './process-clock.ts'
import { reportEnd, reportStart } from './report.ts'
import { withAllSignals } from './resumed-signals.ts'
import { checkInput, checkResult, decodePayload, encodeResult } from './run-values.ts'
import type { Task } from './task.ts'
import type { AroundStep } from './telemetry.ts'
import type { UnawaitedMode } from './unawaited.ts'
import { warnOfUnreached } from './unreached-steps.ts'
import { factsAt, type WaitFacts } from './waits.ts'

export interface RunDeps extends OutcomeDeps {
  readonly middleware: readonly Middleware[]
  readonly leaseTtlMs: number
  /** Default: the process's own clock. */
  readonly clock?: ProcessClock
  readonly aroundStep?: AroundStep | undefined
  readonly unawaited: UnawaitedMode
}

/**
 * Runs the code of a claim. Never rejects. The caller frees the slot of the run, then sends the outcome with `reportOutcome`.
 *
 * A run that awaits something suspends in the middle of `runCode`: the outcome is `left`, and the next claim begins from the top.
 */
export async function run(deps: RunDeps, task: Task, claim: Claim, lease: Lease): Promise<Outcome> {
  const current = new Run(deps, task, claim, lease)
  current.start()
  try {
    if (claim.reason !== 'first') await current.readHistory()
    current.prepareCode()
    await current.decodeInput()
    const value = await current.runCode()
    await current.encodeResult(value)
  } catch (error) {
    current.fail(error)
  }
  await current.cleanUp()
  return current.end()
}

const lost: Outcome = { kind: 'left', how: 'lost' }
const nothing: Outcome = { kind: 'returned', result: undefined, encoding: undefined }
const noSteps: readonly Step[] = []

// A worker's memory is mostly that of its runs, so few promises are pending while the code runs (measured: 0.5 KB each). A step that
// need not wait returns no promise.
class Run {
  readonly #deps: RunDeps
  readonly #task: Task
  readonly #holder: Holder
  /** Recorded by earlier runs. A first run has none. */
  #steps: readonly Step[] = noSteps
  #resumption: Resumption | null = null
  #marker: Step | null = null
  #history!: History
  #facts!: WaitFacts
  /** Null until the history is read. */
  #code: Code | null = null
  #input: unknown
  #outcome: Outcome = nothing
  #startedAt = 0

  constructor(deps: RunDeps, task: Task, claim: Claim, lease: Lease) {
    const { engine, codec, logger, clock, aroundStep } = deps
    this.#deps = deps
    this.#task = task
    this.#holder = new Holder(engine, claim, codec, logger, lease, clock, aroundStep)
  }

  start(): void {
    const { logger, lease, claim } = this.#holder
    if (ignoresDebug(logger)) return
    this.#startedAt = performance.now()
    reportStart(logger, lease, claim.reason)
  }

  async readHistory(): Promise<void> {
    const { resumption } = this.#holder.claim
    this.#steps = await this.#holder.steps()
    this.#resumption = resumption && (await withAllSignals(this.#holder, resumption))
  }

  prepareCode(): void {
    const { claim, lease } = this.#holder
    if (!lease.holds()) lease.throwIfLost()
    const { forward, marker, mode } = recordedBy(claim, this.#steps)
    const claimedAt = claim.leaseExpiresAt - this.#deps.leaseTtlMs
    const resumption = mode?.isStopping === true ? null : this.#resumption
    this.#marker = marker
    this.#history = new History(forward, claim.attemptIndex, this.#task.strict)
    this.#facts = factsAt(claimedAt, resumption, this.#steps)
    this.#code = new Code(this.#holder, this.#task, this.#history, this.#facts, this.#deps.unawaited, mode)
  }

  decodeInput(): Promise<void> | undefined {
    const { input: schema } = this.#task.schemas
    const payload = decodePayload(this.#holder)
    if (schema !== undefined) return checkInput(schema, payload, this.#task).then((input) => void (this.#input = input))
    this.#input = payload
    return undefined
  }

  /** Calls the handler through the middleware. */
  runCode(): Promise<unknown> {
    const { middleware } = this.#deps
    const code = this.#code!
    const callHandler = (): Promise<unknown> => code.run(this.#input)
    if (middleware.length === 0) return callHandler()
    return code.around(() => through(middleware, code.context, callHandler))
  }

  /** The value of code that called `ctx.cancel` or the like, or that was asked to stop, does not count. */
  encodeResult(value: unknown): Promise<void> | undefined {
    const code = this.#code!
    if (code.exit !== null) this.#outcome = code.exit
    if (code.exit !== null || code.wasStopped) return undefined
    code.checkAwaited()
    if (this.#steps.length > 0 || this.#task.schemas.output !== undefined) return this.#checkResult(value)
    this.#return(value)
    return undefined
  }

  async #checkResult(value: unknown): Promise<void> {
    if (this.#steps.length > 0) await warnOfUnreached(this.#holder, this.#history)
    const { output: schema } = this.#task.schemas
    this.#return(schema === undefined ? value : await checkResult(schema, value, this.#task))
  }

  #return(result: unknown): void {
    const encoded = encodeResult(this.#holder, this.#task, result)
    this.#outcome = { kind: 'returned', result: encoded?.bytes, encoding: encoded?.encoding }
  }

  fail(error: unknown): void {
    const exit = this.#code?.exit ?? null
    if (this.#holder.lease.isLost) this.#outcome = lost
    else if (exit !== null) this.#outcome = exit
    else this.#outcome = error instanceof RunLeft ? { kind: 'left', how: error.how } : { kind: 'threw', error }
  }

  /** Runs compensations and hooks where the run was asked to stop or has failed for good. */
  cleanUp(): Promise<void> | undefined {
    const code = this.#code
    if (code === null) return undefined
    let reason: CleanUpReason | null
    try {
      reason = reasonToCleanUp(this.#holder, code, this.#outcome, this.#marker)
    } catch (error) {
      // The reason that an earlier run recorded cannot be decoded.
      this.#outcome = this.#holder.lease.isLost ? lost : { kind: 'threw', error }
      reason = null
    }
    if (reason !== null) return this.#undo(code, reason)
    code.end()
    return undefined
  }

  async #undo(code: Code, reason: CleanUpReason): Promise<void> {
    await code.compensations?.settled()
    code.end()
    const of = { holder: this.#holder, task: this.#task, code, steps: this.#steps, facts: this.#facts }
    this.#outcome = await cleanUp({ ...of, input: this.#input }, reason)
  }

  end(): Outcome {
    const { logger, lease } = this.#holder
    const outcome = this.#outcome
    if (ignoresDebug(logger)) return outcome
    const word = outcome.kind === 'left' ? outcome.how : outcomeWords[outcome.kind]
    reportEnd(logger, lease, word, performance.now() - this.#startedAt)
    return outcome
  }
}

const outcomeWords = {
  returned: 'returned',
  threw: 'threw',
  retry: 'asked for a retry',
  cancel: 'cancelled itself',
  restart: 'restarted',
} as const
