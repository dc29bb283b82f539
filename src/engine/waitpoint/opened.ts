// The waitpoints that this process has opened itself. What a token is bound to, and the condition that an answer is judged by,
// never change: so an answer that comes to the same process is checked without reading them again, which is the shorter by a
// round trip. Whether the wait is still open is asked by the statement that ends it.
import { isMetByOne } from '../../model/condition-waits.ts'
import type { Condition } from '../../model/condition.ts'
import type { ParkedUnmet } from '../suspension/unmet.ts'

export interface OpenedWaitpoint {
  /** The execution's. */
  readonly uuid: string
  readonly namespace: string
  readonly partition: number
  readonly suspensionId: string
  readonly condition: Condition
  readonly key: string
  readonly createdAt: number
  /** Of the key that signed it. */
  readonly keyScope: string
  readonly kid: string
}

const mostRemembered = 10_000
const longestCondition = 2048

export class OpenedWaitpoints {
  readonly #byUuid = new Map<string, OpenedWaitpoint>()

  /** Only where the first signal that fits ends the wait: all others are judged by what came before, too. */
  remember({ item, row, doors }: ParkedUnmet): void {
    const { uuid, partition, suspensionId, condition } = item
    if (item.conditionLength > longestCondition || !isMetByOne(condition)) return
    const of = { uuid, partition, suspensionId, condition, namespace: row.namespace, keyScope: row.key_scope! }
    for (const { uuid: waitpoint, key, kid, createdAt } of doors) {
      this.#byUuid.set(waitpoint, { ...of, key, kid, createdAt })
    }
    this.#forgetOldest()
  }

  /** Once: whoever is not the answer leaves the next to be read. */
  take(waitpoint: string): OpenedWaitpoint | undefined {
    const opened = this.#byUuid.get(waitpoint)
    this.#byUuid.delete(waitpoint)
    return opened
  }

  #forgetOldest(): void {
    for (const waitpoint of this.#byUuid.keys()) {
      if (this.#byUuid.size <= mostRemembered) return
      this.#byUuid.delete(waitpoint)
    }
  }
}
