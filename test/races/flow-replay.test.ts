// Replay of a member against the cascade of its ending, in either order: no edge is counted twice and nothing is stranded.
import { expect, test } from 'vitest'
import { endBacklogged } from '../../src/engine/dispatch/cancel-backlog.ts'
import { resolveFlows } from '../../src/engine/dispatch/sets.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { walk } from '../engine/flow/walk.ts'
import { setup } from '../support/setup.ts'
import { codeOf, meet } from './meeting.ts'
import { watchedEngine } from './watched-engine.ts'
import { patience } from '../support/patience.ts'
import { countPending } from '../support/reads.ts'

const times = 50

const shape = {
  edges: ['a > b', 'b > c', 'a > d', 'x > d', 'c > e', 'd > e'],
  groups: { d: { kind: 'any_of', onSatisfied: 'let_run' } },
} as const

test('replay of a member while its ending is resolved', async () => {
  const fixture = await setup({ dispatch: false })
  const { url, sql } = fixture
  const side = await watchedEngine(url)
  for (let round = 0; round < times; round++) {
    const flow = await walk(fixture, shape)
    await flow.end('a', 'failed')
    // As far into the cascade as the round says.
    for (let hop = 0; hop < round % 4; hop++) await resolveFlows(sql, 1)
    const [replayed] = await meet(
      url,
      [
        () => codeOf(side.engine.executions.replay({ executionId: flow.id('a') })),
        () => resolveFlows(sql, 10).then(() => 'resolved'),
      ],
      { first: Math.floor(round / 4) % 2 },
    )
    expect(replayed).toBe('replayed')
    await settle(sql)
    expect(await checkInvariants(sql)).toEqual([])
    expect(await flow.states()).toMatchObject({ a: 'waiting', b: 'waiting_children', c: 'waiting_children' })
    for (const name of ['a', 'b', 'x', 'c', 'd', 'e']) {
      await flow.end(name)
      await settle(sql)
    }
    expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 6, failed_count: 0, skipped_count: 0 })
  }
  expect(side.deadlockCount()).toBe(0)
})

test(
  'two engines replay two failed members at once: the members that both had skipped wait again',
  { timeout: patience(120_000) },
  async () => {
    const fixture = await setup({ dispatch: false })
    const { url, sql } = fixture
    const [left, right] = [await watchedEngine(url), await watchedEngine(url)]
    for (let round = 0; round < times; round++) {
      const flow = await walk(fixture, { edges: ['a > c', 'b > c', 'c > d'] })
      for (const name of ['a', 'b']) await flow.end(name, 'failed')
      await settle(sql)
      const replay = (side: typeof left, name: string) => () =>
        codeOf(side.engine.executions.replay({ executionId: flow.id(name) }))
      const answers = await meet(url, [replay(left, 'a'), replay(right, 'b')], { first: round % 2 })
      expect(answers).toEqual(['replayed', 'replayed'])
      expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting', c: 'waiting_children', d: 'waiting_children' })
      for (const name of ['b', 'a', 'c', 'd']) {
        await flow.end(name)
        await settle(sql)
      }
      expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 4 })
    }
    expect([left.deadlockCount(), right.deadlockCount()]).toEqual([0, 0])
  },
)

async function settle(sql: Sql): Promise<void> {
  while ((await countPending(sql)) > 0) {
    await resolveFlows(sql, 100)
    await resolveFlows(sql, 100)
    await endBacklogged(sql, 100)
  }
}
