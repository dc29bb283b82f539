// The terminal routine with endings that no operation brings about yet.
import { expect, test } from 'vitest'
import { endExecutionsWhole } from '../../../src/engine/transition/ending.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { TerminalOutcome } from '../../../src/model/state.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory, type Factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import * as stored from '../../support/stored.ts'
import { nowMs } from '../../support/changes.ts'

interface Ending {
  readonly outcome: TerminalOutcome
  readonly reason?: string
  readonly result?: Uint8Array
}

async function end(sql: Sql, executionId: ExecutionId, { outcome, reason, result }: Ending): Promise<void> {
  const text = `
with target as materialized (
  select * from ${stored.executions.qualified} where execution_id = $1 for no key update
),
ending as materialized (
  select t.*, $2::text::flowfabric.ff_terminal_outcome as ending_outcome, $3::text as ending_reason, 'ann' as ending_actor,
    ${nowMs} as ended_at_ms, $4::bytea as ending_result, case when $4::bytea is null then null else 'raw' end as ending_encoding,
    null::text as ending_category, null::bytea as ending_error, null::text as ending_error_encoding
  from target t
),
${endExecutionsWhole}
select execution_id from ended`
  const params = { id: 'uuid', outcome: 'text', reason: 'text?', result: 'bytea?' } as const
  const values = { id: parseExecutionId(executionId).uuid, outcome, reason: reason ?? null, result: result ?? null }
  const ended = await sql.query({ name: 'test.end', params, row: { execution_id: 'uuid' }, text }, values)
  expect(ended).toHaveLength(1)
}

test('a success stores its result and closes attempt, lease and log', async () => {
  const { engine, sql } = await setup()
  const id = await factory(sql).active({ workerInstance: 'w1' })
  await end(sql, id, { outcome: 'success', result: new Uint8Array([0, 255]) })
  const answer = await engine.executions.result(id)
  expect(answer).toMatchObject({ kind: 'completed', encoding: 'raw' })
  expect(answer?.kind === 'completed' && [...answer.result!]).toEqual([0, 255])
  expect(await engine.executions.describe(id)).toMatchObject({
    publicState: 'completed',
    lease: null,
    failureReason: null,
    cancelledBy: null,
  })
  expect(await stored.attempts.pick(sql, ['outcome', 'worker_instance_id'])).toEqual([
    { outcome: 'success', worker_instance_id: 'w1' },
  ])
  expect(await stored.leaseEvents.pick(sql, ['event_type', 'reason'])).toEqual([
    { event_type: 'revoked', reason: 'success' },
  ])
})

test('a success without a result stores none', async () => {
  const { engine, sql } = await setup()
  const id = await factory(sql).active()
  await end(sql, id, { outcome: 'success' })
  expect(await engine.executions.result(id)).toEqual({ kind: 'completed', result: null, encoding: null })
  expect(await stored.results.all(sql)).toEqual([])
})

test('an ending by the deadline records its lease as expired', async () => {
  const { sql } = await setup()
  await end(sql, await factory(sql).active(), { outcome: 'expired', reason: 'deadline' })
  expect(await stored.leaseEvents.pick(sql, ['event_type', 'reason'])).toEqual([
    { event_type: 'expired', reason: 'deadline' },
  ])
})

test('a reason is kept where its outcome has one', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const outcome of ['failed', 'expired', 'skipped'] as const) {
    const id = await given.active()
    await end(sql, id, { outcome, reason: 'why' })
    expect(await engine.executions.describe(id)).toMatchObject({
      failureReason: 'why',
      cancellationReason: null,
      cancelledBy: null,
    })
  }
})

test('an execution that never ran is skipped without an attempt, and expires as it was', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const [skipped, expired] = [await given.blocked(), await given.delayed()]
  await end(sql, skipped, { outcome: 'skipped' })
  await end(sql, expired, { outcome: 'expired' })
  expect((await engine.executions.describe(skipped))?.state.attemptState).toBe('none')
  expect((await engine.executions.describe(expired))?.state.attemptState).toBe('pending_first_attempt')
  expect(await stored.attempts.all(sql)).toEqual([])
  expect(await stored.events.pick(sql, ['attempt_index'])).toEqual([{ attempt_index: null }, { attempt_index: null }])
})

test('a later attempt keeps the record of the earlier one', async () => {
  const { engine, sql } = await setup()
  const id = await factory(sql).active({ attemptIndex: 1 })
  const first = { attempt_index: 0, generation: 0, attempt_type: 'initial', lease_epoch: 1 }
  const times = { started_at_ms: 1, ended_at_ms: 2 }
  await stored.attempts.add(sql, { execution_id: parseExecutionId(id).uuid, ...first, ...times, outcome: 'retry' })
  await end(sql, id, { outcome: 'failed' })
  expect(await stored.attempts.pick(sql, ['attempt_index', 'outcome'], {}, 'attempt_index')).toEqual([
    { attempt_index: 0, outcome: 'retry' },
    { attempt_index: 1, outcome: 'failed' },
  ])
  expect((await engine.executions.describe(id))?.totalAttemptCount).toBe(2)
})

test.each([
  'waiting',
  'delayed',
  'interrupted',
  'resumable',
  'active',
  'suspended',
  'rateLimited',
] as const satisfies (keyof Factory)[])(
  'an ending of an execution that is %s is never before its last change, though the clock was set back',
  async (state) => {
    const { engine, sql } = await setup()
    const id = await factory(sql)[state]()
    await stored.executions.change(sql, { last_mutation_at_ms: 5000000000000 })
    await end(sql, id, { outcome: 'cancelled' })
    expect(await engine.executions.describe(id)).toMatchObject({
      endedAt: 5_000_000_000_000,
      lastMutationAt: 5_000_000_000_000,
    })
  },
)

test('an ending that others wait for is recorded once for them, with the flow and the outcome', async () => {
  const { sql } = await setup()
  const id = await factory(sql).blocked({ flowId: '{fp:3}:0190a3c4-0000-7000-8000-000000000001' })
  await end(sql, id, { outcome: 'skipped' })
  expect(await stored.dispatches.pick(sql, ['flow_id', 'parent_id', 'outcome', 'generation'])).toEqual([
    { flow_id: '0190a3c4-0000-7000-8000-000000000001', parent_id: null, outcome: 'skipped', generation: 0 },
  ])
})
