// What this process knows of waits without reading: the waitpoints that it made, and the suspensions that it opened. What a token
// is bound to, and the condition that an answer is evaluated by, never change. So a suspension that uses a waitpoint of this process,
// and a signal that answers a suspension of it, are shorter by a round trip. The statements that write check everything else: that
// the waitpoint is pending, that the suspension is open.
import { isMetByOne, namesTakenBy } from '../../../model/condition-waits.ts'
import type { Condition } from '../../../model/condition.ts'
import type { UnsignedWaitpoint } from './tokens.ts'

/** A waitpoint that was made ahead. */
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
  readonly doors: readonly (UnsignedWaitpoint & { readonly keyScope: string })[]
}

/** A suspension that the first signal that fits it ends. */
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

  /** It may be used by several suspensions, one after the other. */
  made(waitpoint: string): MadeWaitpoint | undefined {
    return this.#made.get(waitpoint)
  }

  /** Only where the first signal that fits ends the wait: all others are evaluated with what came before, too. */
  remember({ item, row, doors }: NewlyParked): void {
    const { uuid, partition, suspensionId, condition } = item
    if (item.conditionLength > longestCondition || !isMetByOne(condition)) return
    const of = { uuid, partition, suspensionId, condition, namespace: row.namespace, openedAt: row.parked_at_ms }
    for (const { uuid: waitpoint, key, kid, createdAt, keyScope } of doors) {
      this.#byWaitpoint.set(waitpoint, { ...of, key, kid, createdAt, keyScope })
    }
    forgetOldest(this.#byWaitpoint)
    if (namesTakenBy(condition).length === 0) return
    this.#byExecution.set(uuid, of)
    forgetOldest(this.#byExecution)
  }

  /** Once: a signal that is not the answer leaves the next to be read. */
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
