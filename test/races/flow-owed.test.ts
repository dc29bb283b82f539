// One row holds all that an ending owes, to its flow and to others: the resolver finds it while another process clears
// a part of it.
import { expect, onTestFinished, test } from 'vitest'
import { leaveChildren } from '../../src/engine/dispatch/children.ts'
import { resolvePlainDispatches } from '../../src/engine/dispatch/resolve-plain.ts'
import { resolveDispatches } from '../../src/engine/dispatch/resolve.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { pendingDispatch } from '../../src/engine/kernel/pending-dispatch.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import type { Columns, Params, Statement } from '../../src/sql/statement.ts'
import { walk } from '../engine/flow/walk.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'

const key = 4711
const everything = {
  batch: 100,
  namespace: null,
  tag_key: null,
  tag_value: null,
  only: [],
  passed_over: [],
  from_ms: 0,
}
const [plain, whole] = [waiting(resolvePlainDispatches), waiting(resolveDispatches)]

test.each([
  { form: 'plain', resolve: (sql: Sql) => sql.query(plain, { batch: 100, passed_over: [], from_ms: 0 }) },
  { form: 'whole', resolve: (sql: Sql) => sql.query(whole, everything) },
])('the $form form counts an ending once, though its children are cleared meanwhile', async ({ resolve }) => {
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

/** The same statement, which waits between its snapshot and its locks. */
function waiting<P extends Params, R extends Columns>(of: Statement<P, R>): Statement<P, R> {
  const due = /d\.created_at_ms >= \$\d/
  expect(of.text).toMatch(due)
  const text = of.text.replace(due, (found) => `${found} and pg_advisory_xact_lock_shared(${key}) is not null`)
  return { ...of, name: `waiting.${of.name}`, text }
}
