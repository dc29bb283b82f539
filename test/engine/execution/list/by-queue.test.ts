import { expect, test } from 'vitest'
import { factory } from '../../../support/factory.ts'
import { setup } from '../../../support/setup.ts'
import { idsOf } from '../page-through.ts'

test('by namespace, lane and kind the newest of all their queues come first', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const places = [
    { namespace: 'a', lane: 'x', kind: 'k' },
    { namespace: 'a', lane: 'y', kind: 'k' },
    { namespace: 'b', lane: 'x', kind: 'l' },
    { namespace: 'a', lane: 'x', kind: 'l' },
  ]
  const made = []
  for (let index = 0; index < 12; index++) {
    const place = places[index % places.length]!
    made.push({ ...place, id: await given.waiting({ ...place, createdAt: 1000 + index }) })
  }
  const newest = made.toReversed()
  const filters = [
    { namespace: 'a' },
    { lane: 'x' },
    { kind: 'k' },
    { namespace: 'a', lane: 'x' },
    { lane: 'x', kind: 'l' },
    places[0]!,
  ]
  for (const filter of filters) {
    const wanted = newest.filter((one) =>
      Object.entries(filter).every(([name, value]) => one[name as 'lane'] === value),
    )
    expect(await idsOf(engine, filter, 2), JSON.stringify(filter)).toEqual(wanted.map((one) => one.id))
  }
  expect(await idsOf(engine, { lane: 'unknown' }, 2)).toEqual([])
})

test('a caller that is bound to a namespace sees only its own', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const mine = await given.waiting({ namespace: 'a' })
  await given.waiting({ namespace: 'b' })
  const bound = engine.as({ namespace: 'a' })
  expect(await idsOf(bound, {}, 5)).toEqual([mine])
  expect(await idsOf(bound, { namespace: 'b' }, 5)).toEqual([])
})
