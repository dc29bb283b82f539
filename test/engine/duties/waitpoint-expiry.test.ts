import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { waitpointExpiry } from '../../../src/engine/duties/waitpoint-expiry.ts'
import { attached } from '../../../src/model/attached.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

test('WPT-15 an expired waitpoint that no suspension used is closed; one with time left, or without end, stays', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const executionId = await factory(sql).active()
  await pending(sql, executionId, 'early', now + 10)
  await pending(sql, executionId, 'later', now + 11)
  await pending(sql, executionId, 'endless', null)
  await clock.advance(9)
  expect(await withoutWriting(sql, () => waitpointExpiry.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await waitpointExpiry.runOnce(sql)).toEqual({ processed: 1, errors: 0, isFull: false, effects: {} })
  const stays = { state: 'pending', close_reason: null, closed_at_ms: null }
  expect(
    await stored.waitpoints.pick(
      sql,
      ['waitpoint_key', 'state', 'close_reason', 'closed_at_ms', 'expires_at_ms'],
      {},
      'waitpoint_key',
    ),
  ).toEqual([
    {
      waitpoint_key: 'early',
      state: 'closed',
      close_reason: 'never_committed',
      closed_at_ms: now + 10,
      expires_at_ms: null,
    },
    { waitpoint_key: 'endless', ...stays, expires_at_ms: null },
    { waitpoint_key: 'later', ...stays, expires_at_ms: now + 11 },
  ])
})

test('a run takes a limited number, of its namespace and tag', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const make = async (namespace: string, instance: string): Promise<void> =>
    pending(sql, await given.active({ namespace, tags: { instance } }), 'k', 1)
  await make('a', 'one')
  await make('a', 'two')
  await make('b', 'two')
  const tag = { key: 'instance', value: 'two' }
  expect(await waitpointExpiry.runOnce(sql, { filter: { namespace: 'b' } })).toMatchObject({ processed: 1 })
  expect(await waitpointExpiry.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await waitpointExpiry.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 0 })
  expect(await waitpointExpiry.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, isFull: true })
})

async function pending(sql: Sql, executionId: ExecutionId, key: string, expiresAt: number | null): Promise<void> {
  const { partition, uuid } = parseExecutionId(executionId)
  await stored.waitpoints.add(sql, {
    waitpoint_id: randomUUID(),
    execution_id: uuid,
    partition_key: partition,
    created_at_ms: 0,
    expires_at_ms: expiresAt,
    state: 'pending',
    waitpoint_key: key,
    token_kid: 'k',
    required_signal_names: [],
  })
  await stored.executions.change(sql, `attached = attached | ${attached.waitpoints}`, { execution_id: uuid })
}
