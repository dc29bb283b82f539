import { expect, test } from 'vitest'
import { factory } from '../../../support/factory.ts'
import { setup } from '../../../support/setup.ts'
import { idsOf } from '../page-through.ts'

test('waiting ones are listed in claim order: high priority first, then the oldest, over all queues', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const low = await given.waiting({ priority: 0, createdAt: 1000 })
  const lowLater = await given.waiting({ priority: 0, createdAt: 2000, lane: 'b' })
  const high = await given.waiting({ priority: 9000, createdAt: 3000, namespace: 'n' })
  const middle = await given.waiting({ priority: 5, createdAt: 1500 })
  await given.resumable()
  await given.delayed()
  await given.active()
  for (const limit of [1, 2, 10])
    expect(await idsOf(engine, { state: 'waiting' }, limit)).toEqual([high, middle, low, lowLater])
  expect(await idsOf(engine, { state: 'waiting', lane: 'b' }, 1)).toEqual([lowLater])
  expect(await idsOf(engine.as({ namespace: 'n' }), { state: 'waiting' }, 1)).toEqual([high])
})

test('an execution that is held back from the queue waits too, and is listed in its place', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const last = await given.waiting({ createdAt: 3000 })
  const held = await given.heldByOperator({ createdAt: 2000 })
  const first = await given.waiting({ createdAt: 1000 })
  const heldHigh = await given.heldByOperator({ createdAt: 4000, priority: 7, lane: 'b' })
  for (const limit of [1, 2, 10])
    expect(await idsOf(engine, { state: 'waiting' }, limit)).toEqual([heldHigh, first, held, last])
  expect(await idsOf(engine, { state: 'waiting', lane: 'b' }, 1)).toEqual([heldHigh])
})

test('over more queues than a page has rows, every page is in order and none is omitted', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = []
  for (let index = 0; index < 60; index += 1) {
    ids.push(await given.waiting({ lane: `lane-${index % 20}`, createdAt: 1000 + ((index * 7) % 60) }))
  }
  const inOrder = (await engine.executions.list({ state: 'waiting', limit: 100 })).executions.map(
    (one) => one.executionId,
  )
  expect(inOrder.toSorted()).toEqual(ids.toSorted())
  for (const limit of [1, 7, 33]) expect(await idsOf(engine, { state: 'waiting' }, limit)).toEqual(inOrder)
})

test('resumable ones are listed in claim order and not as waiting', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const second = await given.resumable({ createdAt: 2000 })
  const first = await given.resumable({ createdAt: 1000 })
  const lapsed = await given.interrupted()
  expect(await idsOf(engine, { state: 'resumable' }, 1)).toEqual([first, second])
  expect(await idsOf(engine, { state: 'waiting' }, 1)).toEqual([lapsed])
})

test('delayed ones are listed by when they are due', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const later = await given.delayed({ until: 5_000_000_000_000 })
  const sooner = await given.delayed({ until: 4_000_000_000_000 })
  const retry = await given.retrying({ until: 4_500_000_000_000, lane: 'r' })
  expect(await idsOf(engine, { state: 'delayed' }, 1)).toEqual([sooner, retry, later])
  expect(await idsOf(engine, { state: 'delayed', lane: 'r' }, 1)).toEqual([retry])
})

test('active ones are those with a lease, the newest id first', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = [await given.active(), await given.active({ lane: 'b' }), await given.active()]
  await given.waiting()
  expect(await idsOf(engine, { state: 'active' }, 2)).toEqual(ids.toSorted(byUuid).toReversed())
  expect(await idsOf(engine, { state: 'active', lane: 'b' }, 2)).toEqual([ids[1]])
})

test.each([
  ['suspended', 'suspended'],
  ['waiting_children', 'blocked'],
  ['rate_limited', 'rateLimited'],
] as const)('%s ones are listed by the time at which they were parked', async (state, make) => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const second = await given[make]({ since: 2000, createdAt: 500 })
  const first = await given[make]({ since: 1000, createdAt: 900 })
  for (const other of ['suspended', 'blocked', 'rateLimited'] as const)
    if (other !== make) await given[other]({ since: 1500 })
  expect(await idsOf(engine, { state }, 1)).toEqual([first, second])
})

test.each(['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const)(
  '%s ones are listed by the time of their ending, the latest first, over all queues',
  async (state) => {
    const { engine, sql } = await setup()
    const given = factory(sql)
    const ids = [
      await given[state]({ endedAt: 3000, lane: 'b' }),
      await given[state]({ endedAt: 2000 }),
      await given[state]({ endedAt: 1000, namespace: 'n' }),
    ]
    for (const other of ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const) {
      if (other !== state) await given[other]({ endedAt: 2500 })
    }
    expect(await idsOf(engine, { state }, 1)).toEqual(ids)
    expect(await idsOf(engine, { state, lane: 'b' }, 1)).toEqual([ids[0]])
    expect(await idsOf(engine.as({ namespace: 'n' }), { state }, 1)).toEqual([ids[2]])
  },
)

test.each([
  ['waiting', 'waiting', { createdAt: 1000 }],
  ['resumable', 'resumable', { createdAt: 1000 }],
  ['delayed', 'delayed', { until: 4_000_000_000_000 }],
  ['suspended', 'suspended', { since: 1000 }],
  ['waiting_children', 'blocked', { since: 1000 }],
  ['completed', 'completed', { endedAt: 1000 }],
  ['cancelled', 'cancelled', { endedAt: 1000 }],
] as const)('%s ones of one millisecond are each listed once, page by page', async (state, make, traits) => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = []
  for (let index = 0; index < 5; index++) ids.push(await given[make]({ ...traits, lane: `l${index % 2}` }))
  for (const limit of [1, 2, 4]) expect((await idsOf(engine, { state }, limit)).toSorted()).toEqual(ids.toSorted())
})

function byUuid(a: string, b: string): number {
  return a.slice(-36) < b.slice(-36) ? -1 : 1
}
