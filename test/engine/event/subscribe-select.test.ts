// The part of the log that a subscriber receives: by namespace, kind and tag.
import { expect, test } from 'vitest'
import { encodeEventCursor } from '../../../src/engine/event/cursor.ts'
import { eventKinds } from '../../../src/model/event-kind.ts'
import { Subscriptions } from '../../../src/engine/event/subscribe.ts'
import { silent } from '../../../src/sql/logger.ts'
import { factory } from '../../support/factory.ts'
import { rows } from '../../support/raw.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { subscriber, subscriberOf, takeIds, writeEvents } from './subscriber.ts'
import * as stored from '../../support/stored.ts'

const beginning = encodeEventCursor(0)

/** Like a transaction that failed: an id that no event has. */

test('SUB-09 a subscriber receives its namespace only, live and from the table', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  const live = [await open({ namespace: 'tenant-a' }), await open({}, 'tenant-a')]
  await given.completed({ namespace: 'tenant-b' })
  const ours = await given.completed({ namespace: 'tenant-a' })
  await given.completed({ namespace: 'tenant-b' })
  const last = await given.completed({ namespace: 'tenant-a' })
  const past = [await open({ namespace: 'tenant-a', after: beginning }), await open({ after: beginning }, 'tenant-a')]
  for (const one of [...live, ...past]) expect(await takeIds(one, 2)).toEqual([ours, last])
  await refusal('namespace_mismatch', open({ namespace: 'tenant-b' }, 'tenant-a'))
})

test('kinds and tags select, live and from the table', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  const wanted = { kinds: ['ended'], tags: { team: 'red', size: 'l' } } as const
  const live = await open(wanted)
  await given.completed({ tags: { team: 'red' } })
  await given.completed({ tags: { team: 'blue', size: 'l' } })
  const first = await given.completed({ tags: { team: 'red', size: 'l' } })
  const leaseId = '0190a000-0000-7000-8000-000000000001'
  const executionId = await given.active({ tags: { team: 'red', size: 'l' }, leaseId })
  await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [{ executionId, leaseId, leaseEpoch: 1 }] })
  await engine.executions.complete({ executionId, leaseId, leaseEpoch: 1 })
  expect(await takeIds(live, 2)).toEqual([first, executionId])
  // From now on the reader queries tags.
  const next = await given.completed({ tags: wanted.tags })
  await given.completed()
  const last = await given.completed({ tags: { ...wanted.tags, more: 'x' } })
  expect(await takeIds(live, 2)).toEqual([next, last])
  const past = await open({ ...wanted, after: beginning })
  expect(await takeIds(past, 4)).toEqual([first, executionId, next, last])
})

test('SUB-11 an event of an unknown kind is passed over with a warning', async () => {
  const { sql } = await setup()
  const warnings: string[] = []
  const open = subscriberOf(new Subscriptions(sql, { logger: { ...silent, warn: (text) => void warnings.push(text) } }))
  await sql.script(`alter type flowfabric.ff_event_type add value 'teleported'`)
  const live = await open()
  const place = { occurred_at_ms: 0, partition_key: 0, namespace: 'default', actor: 'test' }
  for (let count = 0; count < 2; count += 1) {
    await stored.events.add(sql, { ...place, execution_id: crypto.randomUUID(), event_type: 'teleported' })
  }
  const id = await factory(sql).completed()
  const past = await open({ after: beginning })
  expect(await takeIds(live, 1)).toEqual([id])
  expect(await takeIds(past, 1)).toEqual([id])
  expect(warnings).toEqual([expect.stringContaining('teleported')])
})

test('the kinds are those of the log', async () => {
  const { sql } = await setup()
  const words = await rows(sql, `select unnest(enum_range(null::flowfabric.ff_event_type))::text as word`)
  expect(words.map((row) => row['word'])).toEqual(eventKinds)
})

test('a filter that matches few events reads through a long log', async () => {
  const { sql } = await setup()
  await writeEvents(sql, 11_000)
  const id = await factory(sql).completed()
  const subscription = await subscriber(sql)({ kinds: ['ended'], after: beginning })
  expect(await takeIds(subscription, 1)).toEqual([id])
})

test('invalid subscriptions are refused', async () => {
  const { sql } = await setup()
  const open = subscriber(sql)
  const unknown = await refusal('invalid_input', open({ kinds: ['endet' as 'ended'] }))
  expect(unknown.message).toContain('did you mean ended')
  await refusal('invalid_input', open({ kinds: [] }))
  await refusal('invalid_input', open({ signal: 'stop' as unknown as AbortSignal }))
  await refusal('invalid_input', open({ kinds: 'ended' as unknown as ['ended'] }))
  await refusal('invalid_input', open({ since: 1 } as object))
  await refusal('invalid_input', open({ namespace: '*' }))
  await refusal('invalid_tag', open({ tags: { 'Not a key': 'x' } }))
})
