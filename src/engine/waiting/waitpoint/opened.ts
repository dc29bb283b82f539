// A cache of waits that this process opened: the waitpoints that it created, and the suspensions that it wrote. The
// fields that a token is bound to, and the condition that a signal is evaluated against, never change. So a suspension
// that uses a waitpoint of this process, and a signal to a suspension of it, save a round trip. The statements that
// write check everything else: that the waitpoint is pending, that the suspension is open.
import { isSatisfiedByOne, namesTakenBy } from '../../../model/condition-waits.ts'
import type { Condition } from '../../../model/condition.ts'
import type { UnsignedWaitpoint } from './tokens.ts'

/** A waitpoint that was created in advance. */
export interface MadeWaitpoint extends UnsignedWaitpoint {
  readonly executionUuid: string
  /** Of the key that signed it. */
  readonly keyScope: string
}

/** A suspension that was just written, with its waitpoints. */
interface NewlyParked {
  readonly item: {
    readonly uuid: string
    readonly partition: number
    readonly suspensionId: string
    readonly condition: Condition
    readonly conditionLength: number
  }
  readonly row: { readonly namespace: string; readonly parked_at_ms: number }
  readonly waitpoints: readonly (UnsignedWaitpoint & { readonly keyScope: string })[]
}

/** A suspension that the first matching signal ends. */
export interface OpenedSuspension {
  /** The execution's. */
  readonly uuid: string
  readonly namespace: string
  readonly partition: number
  readonly suspensionId: string
  readonly condition: Condition
  readonly openedAt: number
}

export interface OpenedWaitpoint extends OpenedSuspension {
  readonly key: string
  readonly createdAt: number
  /** Of the key that signed it. */
  readonly keyScope: string
  readonly kid: string
}

const mostRemembered = 10_000
const longestCondition = 2048

export class OpenedWaitpoints {
  readonly #made = new Map<string, MadeWaitpoint>()
  readonly #byWaitpoint = new Map<string, OpenedWaitpoint>()
  readonly #byExecution = new Map<string, OpenedSuspension>()

  rememberMade(made: MadeWaitpoint): void {
    this.#made.set(made.uuid, made)
    forgetOldest(this.#made)
  }

  /** Several suspensions may use it, one after the other. */
  made(waitpoint: string): MadeWaitpoint | undefined {
    return this.#made.get(waitpoint)
  }

  /** Only if the first matching signal ends the wait: all others are evaluated with earlier signals. */
  remember({ item, row, waitpoints }: NewlyParked): void {
    const { uuid, partition, suspensionId, condition } = item
    if (item.conditionLength > longestCondition || !isSatisfiedByOne(condition)) return
    const of = { uuid, partition, suspensionId, condition, namespace: row.namespace, openedAt: row.parked_at_ms }
    for (const { uuid: waitpoint, key, kid, createdAt, keyScope } of waitpoints) {
      this.#byWaitpoint.set(waitpoint, { ...of, key, kid, createdAt, keyScope })
    }
    forgetOldest(this.#byWaitpoint)
    if (namesTakenBy(condition).length === 0) return
    this.#byExecution.set(uuid, of)
    forgetOldest(this.#byExecution)
  }

  /** Once: after a signal that does not match, the next is read. */
  take(waitpoint: string): OpenedWaitpoint | undefined {
    return takeFrom(this.#byWaitpoint, waitpoint)
  }

  /** For a signal by name. Once, too. */
  takeByExecution(execution: string): OpenedSuspension | undefined {
    return takeFrom(this.#byExecution, execution)
  }
}

function takeFrom<Value>(from: Map<string, Value>, uuid: string): Value | undefined {
  const found = from.get(uuid)
  from.delete(uuid)
  return found
}

function forgetOldest(from: Map<string, unknown>): void {
  for (const uuid of from.keys()) {
    if (from.size <= mostRemembered) return
    from.delete(uuid)
  }
}
