// The context of a run inside its thread. What is recorded is recorded by the worker, which holds the lease: it is asked. What
// the code gives it to call, the functions and schemas of steps, stays here, and is called when the worker says so.
import { inspect } from 'node:util'
import type { Claim } from '../../engine/execution/claim.ts'
import type { RecordedError } from '../../model/recorded-error.ts'
import { checkStepName } from '../../model/step.ts'
import { show } from '../../model/text.ts'
import type { Logger, LogLevel } from '../../model/logger.ts'
import type { Child } from '../child.ts'
import type { StepOptions, StepTry, Upstream } from '../context.ts'
import type { RunExit } from '../run-exit.ts'
import { DeterministicRandom, idempotencyKeyOf } from '../deterministic-random.ts'
import { PermanentError, RunLeft } from '../errors.ts'
import { enterStep, insideStep, recordedWhole, refuseInside } from '../inside-step.ts'
import { markHandled } from '../idle.ts'
import { StepPromise, Unawaited } from '../unawaited.ts'
import type { Acts } from '../run-context.ts'
import { deserializeError } from './serialize-error.ts'
import type { Line, Verbs } from './line.ts'

interface OpenStep {
  readonly name: string
  readonly work: (attempt: StepTry) => unknown
  readonly schema: StepOptions['schema']
  tooLate: AbortController | null
}

/** The word by which the code ended its run. */
export interface ThreadExit {
  readonly verb: 'retryIn' | 'cancel' | 'restart'
  readonly args: readonly unknown[]
}

export class ThreadActs implements Acts {
  readonly claim: Claim
  readonly logger: Logger
  exit: ThreadExit | null = null
  readonly unawaited = new Unawaited()
  readonly #line: Line
  readonly #abort = new AbortController()
  readonly #steps = new Map<number, OpenStep>()
  #stepCount = 0
  readonly #random: DeterministicRandom

  constructor(claim: Claim, line: Line) {
    this.claim = claim
    this.#random = new DeterministicRandom(claim)
    this.#line = line
    const log = (level: LogLevel) => (message: string, fields?: object) =>
      void line.ask('log', level, message, cloneable(fields), insideStep(this)?.name)
    this.logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  }

  /** What the worker asks of the run. */
  readonly verbs: Verbs = {
    stop: (reason: RecordedError) => this.#abort.abort(deserializeError(reason)),
    work: (id: number, attempt: Omit<StepTry, 'signal'>) => this.#work(this.#steps.get(id)!, attempt),
    giveUp: (id: number, reason: RecordedError) => this.#steps.get(id)?.tooLate?.abort(deserializeError(reason)),
    check: async (id: number, value: unknown) => {
      const verdict = await this.#steps.get(id)!.schema!['~standard'].validate(value)
      if (verdict.issues === undefined) return { value: verdict.value }
      const plain = (part: unknown): string =>
        String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part)
      return { issues: verdict.issues.map(({ message, path }) => ({ message, path: (path ?? []).map(plain) })) }
    },
  }

  async #work(step: OpenStep, { idempotencyKey, tryCount }: Omit<StepTry, 'signal'>): Promise<unknown> {
    step.tooLate = new AbortController()
    await this.#line.ask('held')
    const signal = AbortSignal.any([this.#abort.signal, step.tooLate.signal])
    return enterStep(this, step.name, { idempotencyKey }, () => step.work({ signal, idempotencyKey, tryCount }))
  }

  get abort(): AbortSignal {
    return this.#abort.signal
  }

  step(name: string, work: OpenStep['work'], options: StepOptions = {}): Promise<unknown> {
    return StepPromise.of(this.unawaited, name, null, this.#step(name, work, options))
  }

  async #step(name: string, work: OpenStep['work'], options: StepOptions): Promise<unknown> {
    refuseInside(this, `the step ${show(name)}`, recordedWhole)
    const id = (this.#stepCount += 1)
    const { schema, ...rest } = options
    this.#steps.set(id, { name, work, schema, tooLate: null })
    try {
      return await this.#line.ask('step', id, name, rest, schema !== undefined)
    } finally {
      this.#steps.delete(id)
    }
  }

  progress(percent: number, message: string | undefined): Promise<void> {
    return this.#line.ask('progress', percent, message) as Promise<void>
  }

  now(): Promise<number> {
    return markHandled(this.#now())
  }

  async #now(): Promise<number> {
    refuseInside(this, 'ctx.now()', recordedWhole)
    return this.#line.ask('now') as Promise<number>
  }

  upstream(name: string): Promise<unknown> {
    return this.#line.ask('upstream', name)
  }

  upstreams(): Promise<readonly Upstream[]> {
    return this.#line.ask('upstreams') as Promise<readonly Upstream[]>
  }

  randomBytes(what: string): Buffer {
    return this.#random.bytes(what, insideStep(this))
  }

  idempotencyKey(name: string): string {
    return idempotencyKeyOf(this.claim, checkStepName('the name of an idempotency key', name), null)
  }

  exitBy(exit: RunExit): never {
    if (exit.kind === 'retry') return this.#exitBy('retryIn', exit.delay, exit.reason)
    return this.#exitBy('cancel', exit.kind === 'cancel' ? exit.reason : undefined)
  }

  restart(input: unknown): never {
    return this.#exitBy('restart', input)
  }

  #exitBy(verb: ThreadExit['verb'], ...args: readonly unknown[]): never {
    this.exit ??= { verb, args }
    throw new RunLeft(howOf[verb])
  }

  compensate = (): never => refuse('compensate')
  sleep = (): never => refuse('sleep')
  waitFor = (): never => refuse('waitFor')
  waitpoint = (): never => refuse('waitpoint')
  child = (): Child => refuse('run and ctx.spawn')
  group = (join: string): never => refuse(join)
}

const howOf = { retryIn: 'retried', cancel: 'cancelled', restart: 'restarted' } as const

// Fields may hold functions and the like, which no message can carry.
function cloneable(fields: object | undefined): object | undefined {
  try {
    return structuredClone(fields)
  } catch {
    return { fields: inspect(fields) }
  }
}

// A wait gives up the worker, and with it the thread and all that it has computed.
function refuse(what: string): never {
  throw new PermanentError(
    `ctx.${what} cannot be used in a thread, which computes and does not wait; wait in a task without a thread, and run this one as its child`,
  )
}
