// The context of one run. Its functions are made when they are asked for: code uses few of them, and there are many runs; and
// they may be taken apart (`const { step } = ctx`).
import type { Claim } from '../engine/execution/claim.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Logger } from '../model/logger.ts'
import type { Child } from './child.ts'
import type {
  ChildOptions,
  Context,
  StepOptions,
  StepTry,
  Upstream,
  Wait,
  WaitForOptions,
  Waitpoint,
} from './context.ts'
import type { RunExit } from './run-exit.ts'
import { markHandled } from './idle.ts'
import { isTask, type Task } from './task.ts'

/** What the code behind a context can do. */
export interface Acts {
  readonly claim: Claim
  readonly logger: Logger
  readonly abort: AbortSignal
  step(name: string, work: (attempt: StepTry) => unknown, options?: StepOptions): Promise<unknown>
  compensate(name: string, work: (attempt: StepTry) => unknown, options?: StepOptions): Promise<void>
  sleep(name: string, length: { readonly dueIn: Duration } | { readonly dueAt: number }): Wait<void>
  waitFor(what: string | Waitpoint, options: WaitForOptions): Wait<unknown>
  waitpoint(name: string, options: { readonly expiresIn?: Duration }): Promise<Waitpoint>
  child(task: Task, input: unknown, options?: ChildOptions, verb?: 'run' | 'spawn'): Child
  upstream(name: string): Promise<unknown>
  upstreams(): Promise<readonly Upstream[]>
  group(join: 'all' | 'any' | 'race', waits: readonly unknown[]): Wait<unknown>
  exitBy(exit: RunExit): never
  restart(input: unknown): never
  progress(percent: number, message: string | undefined): Promise<void>
  now(): Promise<number>
  randomBytes(what: string): Buffer
  idempotencyKey(name: string): string
}

export class RunContext implements Context {
  readonly #acts: Acts

  constructor(acts: Acts) {
    this.#acts = acts
  }

  get executionId() {
    return this.#acts.claim.executionId
  }

  get namespace() {
    return this.#acts.claim.namespace
  }

  get lane() {
    return this.#acts.claim.lane
  }

  get kind() {
    return this.#acts.claim.kind
  }

  get version() {
    return this.#acts.claim.version
  }

  get tags() {
    return this.#acts.claim.tags
  }

  get attemptIndex() {
    return this.#acts.claim.attemptIndex
  }

  get generation() {
    return this.#acts.claim.generation
  }

  get flowId() {
    return this.#acts.claim.flowId
  }

  get parentId() {
    return this.#acts.claim.parentId
  }

  get fence() {
    const { leaseId, leaseEpoch } = this.#acts.claim
    return { leaseId, leaseEpoch }
  }

  get abort() {
    return this.#acts.abort
  }

  get logger() {
    return this.#acts.logger
  }

  get step(): Context['step'] {
    const acts = this.#acts
    return ((name, work, options) => acts.step(name, work, options)) as Context['step']
  }

  get compensate(): Context['compensate'] {
    const acts = this.#acts
    return (name, work, options) => acts.compensate(name, work, options)
  }

  get sleep(): Context['sleep'] {
    const acts = this.#acts
    return (name, duration) =>
      acts.sleep(name, { dueIn: parseDuration(`the length of the sleep ${show(name)}`, duration) })
  }

  get sleepUntil(): Context['sleepUntil'] {
    const acts = this.#acts
    return (name, time) => acts.sleep(name, { dueAt: timeOf(name, time) })
  }

  get waitFor(): Context['waitFor'] {
    const acts = this.#acts
    return (what: string | Waitpoint, options?: WaitForOptions) => acts.waitFor(what, options ?? {}) as never
  }

  get waitpoint(): Context['waitpoint'] {
    const acts = this.#acts
    return (name, options = {}) => acts.waitpoint(name, options)
  }

  get run(): Context['run'] {
    const acts = this.#acts
    return ((task: Task, input: unknown, options?: ChildOptions) => acts.child(task, input, options)) as never
  }

  get spawn(): Context['spawn'] {
    const acts = this.#acts
    const spawn = async (task: Task, input: unknown, options?: ChildOptions) => {
      const child = acts.child(task, input, options, 'spawn')
      return { id: await child.made(), result: () => child }
    }
    return ((task: Task, input: unknown, options?: ChildOptions) => markHandled(spawn(task, input, options))) as never
  }

  get upstream(): Context['upstream'] {
    const acts = this.#acts
    return ((what: Task | string) => acts.upstream(isTask(what) ? what.name : what)) as never
  }

  get upstreams(): Context['upstreams'] {
    const acts = this.#acts
    return () => acts.upstreams()
  }

  get all(): Context['all'] {
    const acts = this.#acts
    return (waits) => acts.group('all', waits) as never
  }

  get any(): Context['any'] {
    const acts = this.#acts
    return (waits) => acts.group('any', waits) as never
  }

  get race(): Context['race'] {
    const acts = this.#acts
    return (waits) => acts.group('race', waits) as never
  }

  get retryIn(): Context['retryIn'] {
    const acts = this.#acts
    return (delay, reason = 'asked to be tried again later') => {
      parseDuration('the delay of a retry', delay)
      return acts.exitBy({ kind: 'retry', delay, reason })
    }
  }

  get cancel(): Context['cancel'] {
    const acts = this.#acts
    return (reason) => acts.exitBy({ kind: 'cancel', reason })
  }

  get restart(): Context['restart'] {
    const acts = this.#acts
    return (input) => acts.restart(input)
  }

  get progress(): Context['progress'] {
    const acts = this.#acts
    return (percent, message) => acts.progress(percent, message)
  }

  get now(): Context['now'] {
    const acts = this.#acts
    return () => acts.now()
  }

  get random(): Context['random'] {
    const acts = this.#acts
    return () => acts.randomBytes('random').readUIntBE(0, 6) / 2 ** 48
  }

  get uuid(): Context['uuid'] {
    const acts = this.#acts
    return () => uuidFrom(acts.randomBytes('uuid'))
  }

  get idempotencyKey(): Context['idempotencyKey'] {
    const acts = this.#acts
    return (name) => acts.idempotencyKey(name)
  }
}

// Not by its class: another realm has one of its own.
function timeOf(name: string, time: number | Date): number {
  const at = typeof time === 'object' && time !== null && 'getTime' in time ? time.getTime() : time
  if (Number.isSafeInteger(at) && at >= 0) return at
  const found = typeof time === 'object' && Number.isNaN(at) ? 'an invalid Date' : show(time)
  throw refusal('invalid_input', `the end of the sleep ${show(name)}`, found, 'a Date, or milliseconds since 1970')
}

function uuidFrom(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
