// Whether a random flow looks as the reference says, once everything is done that is owed.
import { expect } from 'vitest'
import type { Sql } from '../../../src/sql/sql.ts'
import { isEnding, type FlowReference, type MemberState, type ReferenceFlow } from '../../model/flow-reference.ts'
import type { SkipReason } from '../../model/flow-reference.ts'
import type { Row } from '../../support/raw.ts'
import { findFlows, findMembers, type FoundMember } from './found-flow.ts'

type Members = ReadonlyMap<string, FoundMember>

export class Comparison {
  readonly #reference: FlowReference
  /** By id. */
  readonly #flows: ReadonlyMap<string, ReferenceFlow>
  /** With their generation: why these were skipped has been looked at. */
  readonly #explained = new Set<string>()

  constructor(reference: FlowReference, flows: ReadonlyMap<string, ReferenceFlow>) {
    this.#reference = reference
    this.#flows = flows
  }

  /** Gives the members as they are. */
  async make(sql: Sql, root: string): Promise<Members> {
    const members = await findMembers(sql, root)
    const flows = await findFlows(sql, root)
    this.#learn(members, flows)
    for (const [name, found] of members) this.#compare(name, found)
    this.#compareFlows(members, flows)
    return members
  }

  #compare(name: string, found: FoundMember): void {
    const reference = this.#reference
    if (reference.isWithinCancelled(name)) {
      expect(isEnding(found.state), `${name} of a cancelled flow is ${found.state}`).toBe(true)
      return
    }
    expect(found.state, name).toBe(reference.stateOf(name))
    expect(found.group, `what ${name} waits for`).toEqual(reference.groupOf(name))
    if (isEnding(found.state) || found.generation > 0) return
    expect(reference.isCancelledBySiblings(name), `${name} lives`).toBe(false)
  }

  /** What the engine did by itself, and whether it might. */
  #learn(members: Members, flows: readonly Row[]): void {
    const reference = this.#reference
    const marked = flows.flatMap((row) => (row['cancel_policy'] === null ? [] : [row['standing'] as string]))
    const cancelled = [...members].filter(([name, { state }]) => state === 'cancelled' && !reference.endingOf(name))
    for (const [name] of cancelled) reference.end(name, 'cancelled')
    reference.tellCancelled(new Set(marked))
    for (const name of marked) expect(reference.endingOf(name), `${name}, whose flow is cancelled`).toBeDefined()
    const skipped = [...members].filter(([, { state }]) => state === 'skipped')
    reference.tellSkips(new Map(skipped.map(([name, { reason }]) => [name, reason as SkipReason])))
    for (const [name, { reason }] of cancelled) {
      const isRight = reason === 'flow_cancelled' ? reference.isWithinCancelled(name) : reference.mayBeCancelled(name)
      expect(isRight, `${name} was cancelled because of ${reason}`).toBe(true)
    }
    for (const [name, { reason, generation }] of skipped) this.#explain(name, reason as SkipReason, generation)
  }

  #explain(name: string, reason: SkipReason, generation: number): void {
    const key = `${name} ${generation}`
    if (this.#explained.has(key) || this.#reference.isWithinCancelled(name)) return
    expect(this.#reference.mayBeSkippedBecause(name, reason), `${name} was skipped: ${reason}`).toBe(true)
    this.#explained.add(key)
  }

  #compareFlows(members: Members, flows: readonly Row[]): void {
    const reference = this.#reference
    for (const row of flows) {
      const flow = this.#flows.get(row['flow_id'] as string)!
      const states = flow.members.map(({ name }) => members.get(name)!.state)
      const count = (state: MemberState) => states.filter((each) => each === state).length
      const isCancelled = row['cancel_policy'] !== null
      const isOver = states.every(isEnding) && (isCancelled || reference.hasBegun(row['standing'] as string | null))
      const outcome = isCancelled ? 'cancelled' : reference.outcomeOf(flow)
      expect(row, flow.name).toMatchObject({
        outcome: isOver ? outcome : 'none',
        success_count: count('success'),
        failed_count: count('failed'),
        cancelled_count: count('cancelled'),
        expired_count: count('expired'),
        skipped_count: count('skipped'),
      })
    }
  }
}
