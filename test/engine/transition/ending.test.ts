// The terminal routine with endings that no operation brings about yet.
import { expect, test } from 'vitest'
import { endExecutionsWhole } from '../../../src/engine/transition/ending.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { TerminalOutcome } from '../../../src/model/state.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory, type Factory } from '../../support/factory.ts'
import { rows } from '../../support/raw.ts'
import { setup } from '../../support/setup.ts'

interface Ending {
  readonly outcome: TerminalOutcome
  readonly reason?: string
  readonly result?: Uint8Array
}

async function end(sql: Sql, executionId: ExecutionId, { outcome, reason, result }: Ending): Promise<void> {
  const text = `
with target as materialized (
  select * from flowfabric.ff_exec_core where execution_id = $1 for no key update
),
ending as materialized (
  select t.*, $2::text::flowfabric.ff_terminal_outcome as ending_outcome, $3::text as ending_reason, 'ann' as ending_actor,
    flowfabric.ff_now_ms() as ended_at_ms, $4::bytea as ending_result, case when $4::bytea is null then null else 'raw' end as ending_encoding,
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
  expect(await rows(sql, 'select outcome, worker_instance_id from flowfabric.ff_attempt')).toEqual([
    { outcome: 'success', worker_instance_id: 'w1' },
  ])
  expect(await rows(sql, 'select event_type, reason from flowfabric.ff_lease_event')).toEqual([
    { event_type: 'revoked', reason: 'success' },
  ])
})

test('a success without a result stores none', async () => {
  const { engine, sql } = await setup()
  const id = await factory(sql).active()
  await end(sql, id, { outcome: 'success' })
  expect(await engine.executions.result(id)).toEqual({ kind: 'completed', result: null, encoding: null })
  expect(await rows(sql, 'select from flowfabric.ff_exec_result')).toEqual([])
})

test('an ending by the deadline records its lease as expired', async () => {
  const { sql } = await setup()
  await end(sql, await factory(sql).active(), { outcome: 'expired', reason: 'deadline' })
  expect(await rows(sql, 'select event_type, reason from flowfabric.ff_lease_event')).toEqual([
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
  expect(await rows(sql, 'select from flowfabric.ff_attempt')).toEqual([])
  expect(await rows(sql, 'select attempt_index from flowfabric.ff_event')).toEqual([
    { attempt_index: null },
    { attempt_index: null },
  ])
})

test('a later attempt keeps the record of the earlier one', async () => {
  const { engine, sql } = await setup()
  const id = await factory(sql).active({ attemptIndex: 1 })
  await sql.script(`
    insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_epoch, started_at_ms, ended_at_ms, outcome)
    select execution_id, 0, 0, 'initial', 1, 1, 2, 'retry' from flowfabric.ff_exec_core`)
  await end(sql, id, { outcome: 'failed' })
  expect(await rows(sql, 'select attempt_index, outcome from flowfabric.ff_attempt order by 1')).toEqual([
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
    await sql.script('update flowfabric.ff_exec_core set last_mutation_at_ms = 5000000000000')
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
  expect(await rows(sql, 'select flow_id, parent_id, outcome, generation from flowfabric.ff_dispatch')).toEqual([
    { flow_id: '0190a3c4-0000-7000-8000-000000000001', parent_id: null, outcome: 'skipped', generation: 0 },
  ])
})
