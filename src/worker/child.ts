// A child: an execution that the code of its parent creates, once for each parent, generation and call. The parent waits for it as for
// any other leaf, and records how it ended. A new attempt of the parent ignores a child that failed, as it does a step, and creates
// another.
import type { ExecutionResult } from '../engine/execution/result.ts'
import { encodeValue } from '../model/codec.ts'
import type { Condition } from '../model/condition.ts'
import { EngineError } from '../model/errors.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../model/id.ts'
import type { RecordedError } from '../model/recorded-error.ts'
import type { ChildOptions } from './context.ts'
import { ChildError, nothingWhenForbidden } from './errors.ts'
import type { StepCall } from './history.ts'
import { lastError, openedReason } from './last-error.ts'
import type { Steps } from './steps.ts'
import { requestOf, submitOptionNames } from './submission.ts'
import type { Task } from './task.ts'
import type { WaitDeps } from './waiting.ts'
import { Leaf, type WaitFacts, type Satisfaction } from './waits.ts'

// The key covers the time between the creation and its record. After that the record is enough.
const keyTtl = '30d'

interface ChildDeps extends WaitDeps {
  readonly steps: Steps
}

type ChildEnding = Exclude<ExecutionResult, { kind: 'pending' }>

/** The parent's record of a child that did not succeed. */
interface ChildFailure {
  readonly ended: ChildError['ended']
  readonly reason: string | null
  readonly error?: RecordedError
}

export class Child extends Leaf {
  readonly #call: StepCall
  readonly #deps: ChildDeps
  readonly #created: Promise<ExecutionId>
  #id: ExecutionId | null = null
  #ended: ChildEnding | null = null
  #error: RecordedError | undefined
  #hasBegun = false

  /** Creates the child at once, also if the code never awaits it. */
  constructor(call: StepCall, task: Task, input: unknown, options: ChildOptions, deps: ChildDeps) {
    super((wait) => deps.idle.await(wait))
    this.#call = call
    this.#deps = deps
    this.#created = this.#create(task, input, options)
    this.#created.catch((error: unknown) => this.refuse(error))
  }

  get label(): string {
    return this.#call.name
  }

  get title(): string {
    return `child ${JSON.stringify(this.label)}`
  }

  /** Resolves when it exists and the parent has recorded that; in a later run, in the order of that record. */
  async created(): Promise<ExecutionId> {
    if (this.#call.made !== null) await this.#deps.steps.inTurn(this.#call.made)
    return this.#created
  }

  async #create(task: Task, input: unknown, options: ChildOptions): Promise<ExecutionId> {
    const { holder, idle } = this.#deps
    const { executionId: parentId, generation } = holder.claim
    const { recorded, name, index, failedIn } = this.#call
    const { partition } = parseExecutionId(parentId)
    if (recorded !== null) return (this.#id = formatExecutionId(partition, recorded.originId!))
    return idle.fresh(async () => {
      const { name: _, ...given } = options
      // The key has the attempt of the failed child before it, not the current attempt: if this attempt creates the child and crashes
      // before it records that, the next attempt finds the same child.
      const after = failedIn === null ? `${generation}` : `${generation}.${failedIn}`
      const key = { parentId, idempotencyKey: `${after}:${index}:${name}`, idempotencyTtl: keyTtl } as const
      const request = await requestOf(holder.codec, task, input, { ...given, ...key })
      const { executionId } = await holder
        .retryWhileLeased<{ executionId: ExecutionId }>(() => holder.engine.executions.create(request))
        .catch(madeBefore)
      const originId = parseExecutionId(executionId).uuid
      await idle.recorded(holder.record(this.#call, { state: 'pending', originId }))
      return (this.#id = executionId)
    })
  }

  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const { recorded } = this.#call
    if (recorded === null || recorded.state === 'pending') return
    const { state, result, resultEncoding } = recorded
    this.#deps.idle.inOrder(recorded, () => this.#finish(state === 'failed', result, resultEncoding))
  }

  condition(): Condition | null {
    return this.isSettled || this.#id === null ? null : { kind: 'child', executionId: this.#id }
  }

  override async refresh(): Promise<void> {
    if (this.#id === null || this.#ended !== null) return
    const { engine } = this.#deps.holder
    const { holder } = this.#deps
    const found = await holder.retryWhileLeased(() => engine.executions.result(this.#id!))
    if (found === null || found.kind === 'pending') return
    if (found.kind !== 'failed' && found.kind !== 'expired') {
      this.#ended = found
      return
    }
    this.#error = await holder
      .retryWhileLeased(() => lastError(engine, holder.codec, this.#id!))
      .catch(nothingWhenForbidden)
    this.#ended = { ...found, reason: openedReason(found.reason, this.#error) }
  }

  satisfiedBy({ now }: WaitFacts): Satisfaction | null {
    return this.#ended === null ? null : { at: now }
  }

  async record(): Promise<void> {
    const { bytes, encoding } = this.#outcome
    const result = bytes === null ? {} : { result: bytes, resultEncoding: encoding! }
    const state = this.#ended!.kind === 'completed' ? 'succeeded' : 'failed'
    const originId = parseExecutionId(this.#id!).uuid
    await this.#deps.holder.record(this.#call, { state, originId, ...result })
  }

  deliver(): void {
    const { bytes, encoding } = this.#outcome
    this.#finish(this.#ended!.kind !== 'completed', bytes, encoding)
  }

  /** Its encoded result, or its encoded failure. */
  get #outcome(): { readonly bytes: Uint8Array | null; readonly encoding: string | null } {
    const ended = this.#ended!
    if (ended.kind === 'completed') return { bytes: ended.result, encoding: ended.encoding }
    const failure: ChildFailure = {
      ended: ended.kind,
      reason: ended.reason,
      ...(this.#error && { error: this.#error }),
    }
    return encodeValue(this.#deps.holder.codec, 'how a child ended', failure)!
  }

  #finish(hasFailed: boolean, bytes: Uint8Array | null, encoding: string | null): void {
    this.#deps.delivered()
    try {
      const value = this.#deps.holder.decode(`the result of child ${this.#id}`, bytes, encoding)
      if (!hasFailed) return this.satisfy(value)
      const { ended, reason, error } = value as ChildFailure
      this.refuse(new ChildError(this.#id!, ended, reason, error))
    } catch (error) {
      this.refuse(error)
    }
  }
}

// Only this parent uses the key, so the execution that has it is this child. A conflict means that an earlier run created it with another
// input and crashed before it recorded that. The first input counts, as a recorded result would.
function madeBefore(error: unknown): { readonly executionId: ExecutionId } {
  if (!EngineError.is(error, 'idempotency_conflict') || typeof error.details['executionId'] !== 'string') throw error
  return { executionId: error.details['executionId'] as ExecutionId }
}

// The parent sets these itself.
const ownOfChild: readonly string[] = ['executionId', 'namespace', 'parentId', 'idempotencyKey', 'idempotencyTtl']
export const childOptionNames: readonly string[] = [
  'name',
  ...submitOptionNames.filter((name) => !ownOfChild.includes(name)),
]
