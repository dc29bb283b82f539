// One random flow with random operations: members are claimed and end in every way, some are cancelled, some are replayed.
// The work that endings owe is done late, out of order, twice, and by processes that die. Whenever all owed work is done,
// the flow must match the reference.
import { expect } from 'vitest'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import type { SubmittedFlow } from '../../../src/engine/flow/submit-graph.ts'
import { executionDeadline } from '../../../src/engine/duties/execution-deadline.ts'
import { endBacklogged } from '../../../src/engine/dispatch/cancel-backlog.ts'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import type { Ending } from '../../../src/model/edge-group.ts'
import { EngineError } from '../../../src/model/errors.ts'
import { parseExecutionId, parseFlowId, type ExecutionId } from '../../../src/model/id.ts'
import { FlowReference, isEnding, type MemberState, type ReferenceFlow } from '../../model/flow-reference.ts'
import type { Fixture } from '../../support/setup.ts'
import { codeOf } from '../../races/meeting.ts'
import { fenceOf, worker } from '../execution/holder.ts'
import { Comparison } from './comparison.ts'
import { dyingAfterwards, dyingBefore } from './dying.ts'
import { findMembers } from './found-flow.ts'
import { pick, requestOf, type Random } from './random-flow.ts'
import * as stored from '../../support/stored.ts'
import { shufflePending, repeatDispatches } from '../../support/changes.ts'

export async function trial(fixture: Fixture, random: Random, flow: ReferenceFlow): Promise<void> {
  const submitted = await fixture.engine.flows.submitGraph(requestOf(flow))
  const run = new Trial(fixture, random, flow, submitted)
  for (let step = 0; step < 4 * run.size; step++) await run.step()
  await run.finish()
}

class Trial {
  readonly #fixture: Fixture
  readonly #random: Random
  readonly #reference: FlowReference
  readonly #root: string
  readonly #flows = new Map<string, ReferenceFlow>()
  readonly #ids = new Map<string, ExecutionId>()
  readonly #names = new Map<string, string>()
  readonly #held = new Map<string, Claim>()
  readonly #comparison: Comparison

  constructor(fixture: Fixture, random: Random, flow: ReferenceFlow, submitted: SubmittedFlow) {
    this.#fixture = fixture
    this.#random = random
    this.#reference = new FlowReference(flow)
    this.#comparison = new Comparison(this.#reference, this.#flows)
    this.#root = parseFlowId(submitted.flowId).uuid
    this.#name(flow, submitted)
  }

  #name(flow: ReferenceFlow, { flowId, members, innerFlows }: SubmittedFlow): void {
    this.#flows.set(parseFlowId(flowId).uuid, flow)
    for (const { name, flow: inner } of flow.members) {
      this.#ids.set(name, members[name]!)
      this.#names.set(parseExecutionId(members[name]!).uuid, name)
      if (inner !== undefined) this.#name(inner, innerFlows[name]!)
    }
  }

  get size(): number {
    return this.#ids.size
  }

  async step(): Promise<void> {
    const chance = this.#random()
    if (chance < 0.2) return this.#claim(1 + Math.floor(this.#random() * 3))
    if (chance < 0.5) return this.#endOne()
    if (chance < 0.53) return this.#cancel(pick(this.#random, [...this.#ids.keys()]))
    if (chance < 0.58) return this.#cancelAhead()
    if (chance < 0.9) return this.#pass()
    await this.#settle()
    await this.#check()
    if (chance < 0.95) await this.#replay(pick(this.#random, [...this.#ids.keys()]))
  }

  /** Until every member has ended. Each round ends one, or none can end. */
  async finish(): Promise<void> {
    for (let round = 0; round <= 4 * this.size; round++) {
      await this.#settle()
      await this.#claim(100)
      if (this.#held.size === 0) break
      while (this.#held.size > 0) await this.#endOne()
    }
    await this.#check()
    const live = [...(await findMembers(this.#fixture.sql, this.#root)).values()].filter(
      ({ state }) => !isEnding(state),
    )
    expect(live).toEqual([])
  }

  async #claim(max: number): Promise<void> {
    const { claims } = await this.#fixture.engine.executions.claim({ ...worker, max, leaseTtl: '1h' })
    for (const claim of claims) this.#held.set(this.#names.get(parseExecutionId(claim.executionId).uuid)!, claim)
  }

  async #endOne(): Promise<void> {
    if (this.#held.size === 0) return
    const name = pick(this.#random, [...this.#held.keys()])
    const as = pick(this.#random, [
      'success',
      'success',
      'success',
      'failed',
      'failed',
      'cancelled',
      'expired',
    ] as const)
    const claim = this.#held.get(name)!
    this.#held.delete(name)
    if (await this.#hasEnded(this.#endAs(claim, as))) this.#reference.end(name, as)
  }

  async #endAs(claim: Claim, as: Ending): Promise<void> {
    const { executions } = this.#fixture.engine
    if (as === 'success') await executions.complete(fenceOf(claim))
    else if (as === 'failed') await executions.fail({ ...fenceOf(claim), reason: 'broke', permanent: true })
    else if (as === 'cancelled') await executions.cancel(fenceOf(claim))
    else await this.#expire(claim)
  }

  async #expire(claim: Claim): Promise<void> {
    const { sql, engine } = this.#fixture
    // Records the ids first: a cancelled execution has no deadline any more.
    await engine.executions.progress({ ...fenceOf(claim), percent: 1 })
    const { uuid } = parseExecutionId(claim.executionId)
    await stored.executions.change(sql, { deadline_at_ms: 1 }, { execution_id: uuid })
    expect(await executionDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  }

  async #cancel(name: string): Promise<void> {
    const { executions } = this.#fixture.engine
    const asked = executions.cancel({ executionId: this.#ids.get(name)! })
    const answer = await asked.catch((error: unknown) => {
      if (EngineError.is(error) && error.code === 'execution_not_cancellable') return null
      throw error
    })
    if (answer?.kind === 'cancelled') this.#reference.end(name, 'cancelled')
  }

  /** A member of a flow that has not started. */
  async #cancelAhead(): Promise<void> {
    const ahead = [...this.#ids.keys()].filter((name) => this.#reference.isAhead(name))
    if (ahead.length > 0) await this.#cancel(pick(this.#random, ahead))
  }

  /** Unless another process ended it first. */
  async #hasEnded(ending: Promise<void>): Promise<boolean> {
    try {
      await ending
      return true
    } catch (error) {
      if (EngineError.is(error) && error.code === 'execution_not_active') return false
      throw error
    }
  }

  async #pass(): Promise<void> {
    const { sql } = this.#fixture
    const batch = 1 + Math.floor(this.#random() * 7)
    const one = pick(this.#random, [resolveFlows, endBacklogged])
    const how = pick(this.#random, [
      'once',
      'twice',
      'dies before',
      'dies afterwards',
      'reordered',
      'repeated',
    ] as const)
    if (how === 'reordered') await shufflePending(sql)
    if (how === 'repeated') await sql.script(repeatDispatches(this.#root))
    if (how === 'dies before') await expect(one(dyingBefore(sql), batch)).rejects.toThrow('died')
    else if (how === 'dies afterwards') await one(dyingAfterwards(sql), batch)
    else await Promise.all(how === 'twice' ? [one(sql, batch), one(sql, batch)] : [one(sql, batch)])
  }

  async #settle(): Promise<void> {
    const { sql } = this.#fixture
    for (let round = 0; round < 20 * this.size + 20; round++) {
      const taken = [await resolveFlows(sql, 50), await endBacklogged(sql, 50)]
      if (taken.every(({ seen }) => seen === 0)) return
    }
    expect.fail('the owed work does not come to an end')
  }

  async #replay(name: string): Promise<void> {
    const state = this.#reference.stateOf(name)
    const asked = this.#fixture.engine.executions.replay({ executionId: this.#ids.get(name)! })
    const answer = await codeOf(asked)
    expect(answer, `replay of ${name}, which is ${state}`).toBe(this.#expectedOfReplay(name, state))
    if (answer === 'replayed') this.#reference.replay(name)
  }

  #expectedOfReplay(name: string, state: MemberState): string {
    const reference = this.#reference
    if (reference.isWithinCancelled(name))
      return reference.isWithinSkipped(name) ? 'execution_not_runnable' : 'flow_terminal'
    if (!isEnding(state)) return 'execution_not_terminal'
    const isLost = reference.groupOf(name)?.state === 'impossible'
    return isLost || reference.standsForFlow(name) ? 'execution_not_runnable' : 'replayed'
  }

  async #check(): Promise<void> {
    const members = await this.#comparison.make(this.#fixture.sql, this.#root)
    for (const [name, { state }] of members) if (state !== 'ready') this.#held.delete(name)
  }
}
