// The dispatcher's work after the commit of an ending, until no work is left.
import { expect, test } from 'vitest'
import { leaveChildren } from '../../../src/engine/dispatch/children.ts'
import { Dispatcher } from '../../../src/engine/duties/dispatcher.ts'
import { pendingDispatch } from '../../../src/engine/kernel/pending-dispatch.ts'
import { notifyParents } from '../../../src/engine/dispatch/parent.ts'
import { mintExecutionId } from '../../../src/model/id.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, take } from '../execution/holder.ts'
import { grown } from '../flow/grown.ts'
import { walk } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'

test('one member with edges for many sets is dispatched to the last of them', async () => {
  const fixture = await setup({ dispatch: false })
  const flow = await walk(fixture, { edges: Array.from({ length: 155 }, (_, index) => `a > b${index}`) })
  await flow.end('a')
  const dispatcher = dispatcherOf(inSetsOfOne(fixture.sql))
  dispatcher.start(pendingDispatch.flow)
  await dispatcher.idle()
  expect(await stored.dispatches.all(fixture.sql)).toEqual([])
  expect(await stored.ready.all(fixture.sql)).toHaveLength(155)
})

test('owed work continues while a row is locked for long', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.end('a')
  let turns = 0
  const dispatcher = dispatcherOf(
    around(sql, async (ask) => {
      turns += 1
      const answer = await ask()
      if (turns > 20) return answer
      // Others end meanwhile, so it does not pause; at last one that owes work to its flow.
      dispatcher.start(turns < 20 ? pendingDispatch.cancels : pendingDispatch.flow)
      // One row that is due and cannot be locked.
      return [{ id: '0190a000-0000-7000-8000-000000000001' }] as never
    }),
  )
  dispatcher.start(pendingDispatch.cancels)
  await dispatcher.idle()
  expect(await stored.dispatches.all(sql)).toEqual([])
})

test('a flow that cannot be resolved is quarantined at once, and delays no other', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const bad = await walk(fixture, { edges: ['a > b'] })
  await bad.end('a')
  const good = await walk(fixture, { edges: ['c > d'] })
  await good.end('c')
  const match = { downstream_id: bad.uuidOf('b') }
  const accept = await stored.edgeGroups.refuse(sql, 'update', { match, message: 'not this one', code: '23514' })
  const dispatcher = dispatcherOf(sql)
  dispatcher.start(pendingDispatch.flow)
  await dispatcher.idle()
  await accept()
  expect([await bad.states(), await good.states()]).toMatchObject([{ b: 'waiting_children' }, { d: 'waiting' }])
  expect(await stored.quarantine.pick(sql, ['duty', 'subject_id'])).toEqual([
    { duty: 'dispatch', subject_id: bad.uuidOf('a') },
  ])
})

test('each pass returns what else its rows owe, because other passes may have skipped the locked rows', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const { flowId } = await grown(engine, [])
  const parent = await engine.executions.create({ executionId: mintExecutionId({ flowId }), kind: 'parent' })
  const { executionId } = await engine.executions.create({ kind: 'k', parentId: parent.executionId })
  await engine.flows.addMember({ flowId, executionId })
  const claim = await take(engine, { kinds: ['k'] })
  await engine.executions.create({ kind: 'child', parentId: executionId })
  await engine.executions.complete(fenceOf(claim))
  expect(await leaveChildren(sql, 100)).toMatchObject({
    done: 1,
    effects: { pendingDispatch: pendingDispatch.cancels | pendingDispatch.flow | pendingDispatch.parent },
  })
  expect(await notifyParents(sql, 100)).toMatchObject({ done: 1, effects: { pendingDispatch: pendingDispatch.flow } })
})

function dispatcherOf(sql: Sql): Dispatcher {
  return new Dispatcher(sql, () => {})
}

function inSetsOfOne(sql: Sql): Sql {
  const query: Sql['query'] = (statement, values) => sql.query(statement, { ...values, batch: 1 })
  return { ...around(sql, (ask) => ask()), query }
}
