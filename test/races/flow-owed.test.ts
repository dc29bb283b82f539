// What an ending owes its flow and others besides is one row: the resolver takes it while another transaction clears a part of it.
import { expect, onTestFinished, test } from 'vitest'
import { leaveChildren } from '../../src/engine/dispatch/children.ts'
import { resolveFlows } from '../../src/engine/dispatch/sets.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { pendingDispatch } from '../../src/engine/kernel/pending-dispatch.ts'
import { around } from '../../src/sql/around.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Call, Sql } from '../../src/sql/sql.ts'
import { walk } from '../engine/flow/walk.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'

const key = 4711

test.each([
  { by: 'the dispatcher', resolve: (sql: Sql) => resolveFlows(waiting(sql), 100) },
  { by: 'the duty', resolve: (sql: Sql) => dispatch.runOnce(waiting(sql)) },
])('an ending is counted once by $by, though its children are left meanwhile', async ({ resolve }) => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql, url } = fixture
  const other = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => other.close())
  const flow = await walk(fixture, { edges: ['a > b'] })
  const a = await flow.take('a')
  await engine.executions.create({ kind: 'child', parentId: flow.id('a') })
  await flow.endTaken(a)
  const gate = await hold(url, `select pg_advisory_xact_lock(${key})`)
  const resolved = resolve(other)
  await gate.waiters(1)
  const bits = pendingDispatch.cancels | pendingDispatch.flow
  expect(await leaveChildren(sql, 100)).toMatchObject({ done: 1, effects: { pendingDispatch: bits } })
  expect(await stored.cancelBacklog.all(sql)).toHaveLength(1)
  await gate.release()
  await resolved
  while ((await dispatch.runOnce(sql)).processed > 0);
  expect(await flow.row()).toMatchObject({ success_count: 1 })
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting' })
})

/** The first statement of a set waits between its snapshot and its locks. */
function waiting(sql: Sql): Sql {
  const decide: Sql['decide'] = (reads, ...rest) => {
    const [take, ...others] = reads
    return sql.decide([waitingCall(take!), ...others] as unknown as typeof reads, ...rest)
  }
  return { ...around(sql, (ask) => ask()), decide }
}

function waitingCall({ statement, values }: Call): Call {
  const taken = /d\.created_at_ms >= \$\d|d\.execution_id = any \(array\[i\.execution_id\]\)/
  const text = statement.text.replace(taken, (found) => `${found} and pg_advisory_xact_lock_shared(${key}) is not null`)
  return { statement: { ...statement, name: `waiting.${statement.name}`, text }, values }
}

test('a set that finds its next members locked reports no more pending work, so that the dispatcher pauses', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql, url } = fixture
  const downstreams = Array.from({ length: 12 }, (_, index) => `b${index}`)
  const flow = await walk(fixture, { edges: downstreams.map((name) => `a > ${name}`) })
  await flow.endTaken(await flow.take('a'))
  const ids = downstreams.map((name) => `'${flow.uuidOf(name)}'`).join(', ')
  const lock = await hold(url, `select 1 from flowfabric.ff_exec_core where execution_id in (${ids}) for no key update`)
  // One set reads ten edges.
  expect(await resolveFlows(sql, 1)).toMatchObject({ seen: 1, done: 0, effects: { pendingDispatch: 0 } })
  await lock.release()
  for (let sets = 0; sets < 2; sets += 1) await resolveFlows(sql, 1)
  expect(new Set(Object.values(await flow.states()))).toEqual(new Set(['completed', 'waiting']))
  expect(await flow.row()).toMatchObject({ success_count: 1 })
})
