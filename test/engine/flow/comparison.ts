// Compares a random flow with the reference, once all owed work is done.
import { expect } from 'vitest'
import type { Sql } from '../../../src/sql/sql.ts'
import { isEnding, type FlowReference, type MemberState, type ReferenceFlow } from '../../model/flow-reference.ts'
import type { Row } from '../../support/raw.ts'
import { compareWithModel } from './ended-flow.ts'
import { findMembers, type FoundMember } from './found-flow.ts'
import { flowsOfTree } from '../../support/reads.ts'

type Members = ReadonlyMap<string, FoundMember>

export class Comparison {
  readonly #reference: FlowReference
  /** The members by id. */
  readonly #flows: ReadonlyMap<string, ReferenceFlow>

  constructor(reference: FlowReference, flows: ReadonlyMap<string, ReferenceFlow>) {
    this.#reference = reference
    this.#flows = flows
  }

  /** The endings of the members. */
  async make(sql: Sql, root: string): Promise<Members> {
    const members = await findMembers(sql, root)
    const flows = await flowsOfTree(sql, root)
    this.#learn(members, flows)
    for (const [name, found] of members) this.#compare(name, found)
    this.#compareFlows(members, flows)
    await compareWithModel(sql, root)
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
    const isFinal = found.state === 'skipped' && reference.isSkippedForGood(name)
    if (isFinal) expect(found.reason, `why ${name} was skipped`).toBe(reference.skipReasonOf(name))
    if (isEnding(found.state) || found.generation > 0) return
    expect(reference.isCancelledBySiblings(name), `${name} lives`).toBe(false)
  }

  /** The members that the engine cancelled by itself, which depends on time, and those that it might cancel. */
  #learn(members: Members, flows: readonly Row[]): void {
    const reference = this.#reference
    const cancelled = [...members].filter(([name, { state }]) => state === 'cancelled' && !reference.endingOf(name))
    for (const [name] of cancelled) reference.end(name, 'cancelled')
    for (const { standing, cancel_policy: policy, outcome } of flows) {
      const isExpected = standing !== null && reference.isCancelled(standing as string)
      // It may have ended by itself before the cancel of its member arrived.
      if (isExpected && policy === null && outcome !== 'none') continue
      expect(policy !== null, `the flow of ${standing as string} is cancelled`).toBe(isExpected)
    }
    for (const [name, { reason }] of cancelled) {
      const isRight = reason === 'flow_cancelled' ? reference.isWithinCancelled(name) : reference.mayBeCancelled(name)
      expect(isRight, `${name} was cancelled because of ${reason}`).toBe(true)
    }
  }

  #compareFlows(members: Members, flows: readonly Row[]): void {
    const reference = this.#reference
    for (const row of flows) {
      const flow = this.#flows.get(row['flow_id'] as string)!
      const states = flow.members.map(({ name }) => members.get(name)!.state)
      const count = (state: MemberState) => states.filter((each) => each === state).length
      const isCancelled = row['cancel_policy'] !== null
      const isOver = states.every(isEnding) && (isCancelled || reference.hasBegun(row['standing'] as string | null))
      const outcome = !isOver ? 'none' : isCancelled ? 'cancelled' : reference.outcomeOf(flow)
      expect(row, flow.name).toMatchObject({
        outcome,
        success_count: count('success'),
        failed_count: count('failed'),
        cancelled_count: count('cancelled'),
        expired_count: count('expired'),
        skipped_count: count('skipped'),
      })
    }
  }
}
