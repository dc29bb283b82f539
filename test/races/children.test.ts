// A parent and its children, in every order: no child's ending is missed, and no child outlives its parent unless it
// may.
import { expect, test } from 'vitest'
import type { Sql } from '../../src/sql/sql.ts'
import { notifyParents } from '../../src/engine/dispatch/parent.ts'
import { cancelBacklog } from '../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import { fenceOf, held, take } from '../engine/execution/holder.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import { codeOf, meet } from './meeting.ts'
import { watchedEngine } from './watched-engine.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'
import { countPending } from '../support/reads.ts'

const times = 50

test('a child ends while its parent suspends on it: the parent resumes', async () => {
  const { url, sql } = await setup()
  const [left, right] = [await watchedEngine(url), await watchedEngine(url)]
  for (let round = 0; round < times; round++) {
    const parent = await held(left.engine)
    const { executionId } = await left.engine.executions.create({ kind: 'child', parentId: parent.executionId })
    const child = await take(left.engine)
    const condition = { kind: 'child', executionId } as const
    const answers = await meet(
      url,
      [
        () => codeOf(left.engine.executions.suspend({ ...fenceOf(parent), condition })),
        () => codeOf(right.engine.executions.complete(fenceOf(child))),
      ],
      { first: round % 2 },
    )
    expect(answers).toEqual(['suspended', 'completed'])
    await settle(sql)
    // A dispatcher that came too late may still hold the parent's row, which a claim passes over.
    const resumed = await take(left.engine, { wait: '1m' })
    expect(resumed).toMatchObject({ executionId: parent.executionId, reason: 'resume' })
    await left.engine.executions.complete(fenceOf(resumed))
    await settle(sql)
  }
  expect([left.deadlockCount(), right.deadlockCount()]).toEqual([0, 0])
})

test(
  'a child is created while its parent ends: it is refused, or ends with the parent',
  { timeout: patience(90_000) },
  async () => {
    const { url, sql } = await setup()
    const [left, right] = [await watchedEngine(url), await watchedEngine(url)]
    const met = new Set<string>()
    for (let round = 0; round < times; round++) {
      const parent = await held(left.engine)
      const request = { kind: 'child', parentId: parent.executionId }
      const answers = await meet(
        url,
        [
          () => codeOf(left.engine.executions.complete(fenceOf(parent))),
          () => codeOf(right.engine.executions.create(request)),
        ],
        { first: round % 2 },
      )
      expect(answers[0]).toBe('completed')
      met.add(answers[1]!)
      await settle(sql)
      const children = await stored.executions.pick(sql, ['public_state', 'cancellation_reason'], {
        parent_id: stored.present,
      })
      const gone = { public_state: 'cancelled', cancellation_reason: 'parent_ended' }
      expect(children).toEqual(children.map(() => gone))
      expect(await checkInvariants(sql)).toEqual([])
    }
    expect([...met].toSorted()).toEqual(['created', 'execution_terminal'])
    expect([left.deadlockCount(), right.deadlockCount()]).toEqual([0, 0])
  },
)

test(
  'children of one parent are created and end from two sides at once: each ending reaches the parent',
  { timeout: patience(90_000) },
  async () => {
    const { url, sql } = await setup()
    const sides = [await watchedEngine(url), await watchedEngine(url)] as const
    for (let round = 0; round < times / 5; round++) {
      const parent = await held(sides[0].engine)
      const requests = Array.from({ length: 10 }, () => ({ kind: 'child', parentId: parent.executionId }))
      const made = await Promise.all(sides.map(({ engine }) => engine.executions.createMany(requests)))
      const ids = made
        .flat()
        .map((answer) => (answer.kind === 'refused' ? expect.fail(answer.error.message) : answer.executionId))
      const condition = {
        kind: 'allOf',
        members: ids.map((executionId) => ({ kind: 'child', executionId }) as const),
      } as const
      const halves = [ids.slice(0, 10), ids.slice(10)]
      await Promise.all([
        sides[0].engine.executions.suspend({ ...fenceOf(parent), condition }),
        ...halves.map((half, side) =>
          sides[side]!.engine.executions.cancelMany(half.map((executionId) => ({ executionId }))),
        ),
      ])
      await settle(sql)
      const resumed = await take(sides[0].engine, { wait: '1m' })
      expect(resumed).toMatchObject({ executionId: parent.executionId, reason: 'resume' })
      await sides[0].engine.executions.complete(fenceOf(resumed))
      await settle(sql)
    }
    expect(sides.map((side) => side.deadlockCount())).toEqual([0, 0])
  },
)

test.each([
  ['the dispatcher', async (sql: Sql) => (await notifyParents(sql, 2)).done],
  ['the duty', async (sql: Sql) => (await dispatch.runOnce(sql, { batch: 2 })).processed],
] as const)('%s: a locked parent keeps no other parent from waking, however many children it has', async (_, tell) => {
  const { engine, sql, url } = await setup({ dispatch: false })
  const waitsFor = async (count: number) => {
    const parent = await held(engine)
    const { executionId: parentId } = parent
    const made = Array.from({ length: count }, () => engine.executions.create({ kind: 'child', parentId }))
    const ids = (await Promise.all(made)).map(({ executionId }) => executionId)
    const members = ids.map((executionId) => ({ kind: 'child', executionId }) as const)
    await engine.executions.suspend({ ...fenceOf(parent), condition: { kind: 'anyOf', members } })
    for (const executionId of ids) await engine.executions.cancel({ executionId })
    return parentId
  }
  const [many, one] = [await waitsFor(3), await waitsFor(1)]
  const stateOf = async (id: ExecutionId) => (await engine.executions.describe(id))?.publicState
  const { uuid } = parseExecutionId(many)
  const lock = await hold(url, stored.executions.lockingRows('no key update', { execution_id: uuid }))
  expect(await tell(sql)).toBe(1)
  expect([await stateOf(many), await stateOf(one)]).toEqual(['suspended', 'resumable'])
  expect(await tell(sql)).toBe(0)
  await lock.release()
  await settle(sql)
  expect(await stateOf(many)).toBe('resumable')
  expect(await checkInvariants(sql)).toEqual([])
})

/** Runs the owed work, on any engine. */
async function settle(sql: Sql): Promise<void> {
  while ((await countPending(sql)) > 0) {
    await dispatch.runOnce(sql)
    await cancelBacklog.runOnce(sql)
  }
}
