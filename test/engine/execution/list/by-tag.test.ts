import { expect, test } from 'vitest'
import { factory } from '../../../support/factory.ts'
import { setup } from '../../../support/setup.ts'
import { idsOf } from '../page-through.ts'

test('by tag the newest of all namespaces come first', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = []
  for (let index = 0; index < 5; index++) {
    const namespace = index % 2 === 0 ? 'a' : 'b'
    ids.unshift(await given.waiting({ namespace, createdAt: 1000 + index, tags: { customer: 'c1', other: 'x' } }))
    await given.waiting({ namespace, createdAt: 1000 + index, tags: { customer: 'c2' } })
  }
  const tag = { key: 'customer', value: 'c1' }
  expect(await idsOf(engine, { tag }, 2)).toEqual(ids)
  expect(await idsOf(engine, { tag, namespace: 'a' }, 2)).toEqual([ids[0], ids[2], ids[4]])
  expect(await idsOf(engine.as({ namespace: 'b' }), { tag }, 1)).toEqual([ids[1], ids[3]])
})

test('a tag value is matched whole, and an empty one is a value', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const id = await given.waiting({ tags: { a: '' } })
  await given.waiting({ tags: { a: 'x' } })
  await given.waiting()
  expect(await idsOf(engine, { tag: { key: 'a', value: '' } }, 5)).toEqual([id])
  expect(await idsOf(engine, { tag: { key: 'a', value: '%' } }, 5)).toEqual([])
})

test('an execution that was tagged later is listed by its creation', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const old = await given.waiting({ createdAt: 1000 })
  const young = await given.waiting({ createdAt: 2000, tags: { a: '1' } })
  await engine.executions.setTag(old, 'a', '1')
  expect(await idsOf(engine, { tag: { key: 'a', value: '1' } }, 1)).toEqual([young, old])
})

test('tagged ones of one millisecond are each listed once, page by page', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = []
  for (let index = 0; index < 5; index++) {
    ids.push(await given.waiting({ namespace: `n${index % 2}`, createdAt: 1000, tags: { a: '1' } }))
  }
  for (const limit of [1, 2]) {
    expect((await idsOf(engine, { tag: { key: 'a', value: '1' } }, limit)).toSorted()).toEqual(ids.toSorted())
  }
})
