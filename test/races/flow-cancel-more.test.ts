// A flow inside another was cancelled except for the started members. Then it is cancelled as a whole with the outer flow,
// while a process that still knows the first policy works off its backlog.
import { expect, onTestFinished, test } from 'vitest'
import { endBacklogged, lockBacklog, readBacklog } from '../../src/engine/dispatch/cancel-backlog.ts'
import { cancelBacklog } from '../../src/engine/duties/cancel-backlog.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Call, Sql } from '../../src/sql/sql.ts'
import type { Statement } from '../../src/sql/statement.ts'
import { fenceOf } from '../engine/execution/holder.ts'
import { graphOf, walk } from '../engine/flow/walk.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'
import { makeReady } from '../support/changes.ts'

const key = 4712

test.each([
  {
    when: 'before its row is locked',
    statement: lockBacklog,
    after: 'where b.execution_id = any ($1)',
    gate: ` and pg_advisory_xact_lock_shared(${key}) is not null`,
    waiters: 1,
  },
  {
    when: 'after its row was locked',
    statement: readBacklog,
    after: 'on f.flow_id = any (array[b.flow_id])',
    gate: ` where pg_advisory_xact_lock_shared(${key}) is not null`,
    waiters: 2,
  },
])('a spared member is cancelled with the outer flow, which is cancelled $when', async (where) => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql, url } = fixture
  const other = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => other.close())
  const flow = await walk(fixture, {
    members: [{ name: 'in', flow: { kind: 'inner', ...graphOf({ members: ['x'] }) } }],
  })
  const inner = flow.inner['in']!
  const mark = (policy: string | null, at: number | null) =>
    stored.flows.change(sql, { cancel_policy: policy, cancelled_at_ms: at }, { flow_id: inner.uuid })
  await engine.flows.cancel({ flowId: inner.flowId, policy: 'cancel_pending' })
  // A claim that began before the cancel.
  await mark(null, null)
  await makeReady(sql, `eligibility_state = 'eligible_now'`)
  const x = await inner.take('x')
  await mark('cancel_pending', 1)
  expect(where.statement.text).toContain(where.after)
  const text = where.statement.text.replace(where.after, where.after + where.gate)
  const gate = await hold(url, `select pg_advisory_xact_lock(${key})`)
  const worked = endBacklogged(replacing(other, where.statement, { name: `waiting.${where.waiters}`, text }), 100)
  await gate.waiters(1)
  const cancelled = engine.flows.cancel({ flowId: flow.flowId })
  // The cancel waits for a process that is about to delete the row, and otherwise finishes first.
  if (where.waiters === 1) await cancelled
  else await gate.waiters(where.waiters)
  await gate.release()
  await Promise.all([worked, cancelled])
  await cancelBacklog.runOnce(sql)
  expect(await inner.states()).toEqual({ x: 'cancelled' })
  await expect(engine.executions.complete(fenceOf(x))).rejects.toMatchObject({ code: 'execution_not_active' })
  expect(await stored.cancelBacklog.all(sql)).toEqual([])
})

/** The same database, with another text in place of a statement that a decision reads. */
function replacing(sql: Sql, statement: Statement, other: Pick<Statement, 'name' | 'text'>): Sql {
  const replaced = (call: Call): Call =>
    call.statement === statement ? { ...call, statement: { ...statement, ...other } } : call
  return {
    ...sql,
    query: sql.query.bind(sql),
    decide: (reads, ...rest) => sql.decide(reads.map(replaced) as never, ...rest),
  }
}
