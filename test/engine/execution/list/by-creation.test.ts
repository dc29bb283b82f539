import { expect, test } from 'vitest'
import { factory } from '../../../support/factory.ts'
import { setup } from '../../../support/setup.ts'
import { idsOf } from '../page-through.ts'

test('without a filter the newest come first, whatever their namespace and state', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = [
    await given.waiting({ createdAt: 1000, namespace: 'a' }),
    await given.failed({ createdAt: 2000, namespace: 'b' }),
    await given.active({ createdAt: 3000, lane: 'l' }),
    await given.suspended({ createdAt: 4000 }),
    await given.delayed({ createdAt: 5000 }),
  ]
  for (const limit of [1, 2, 5, 10]) expect(await idsOf(engine, {}, limit)).toEqual(ids.toReversed())
})

test('executions created in one millisecond are listed in descending order of ids', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids: string[] = []
  for (let index = 0; index < 7; index++) ids.push(await given.waiting({ createdAt: 1000 }))
  expect(await idsOf(engine, {}, 3)).toEqual(ids.toSorted(byUuid).toReversed())
})

function byUuid(a: string, b: string): number {
  return a.slice(-36) < b.slice(-36) ? -1 : 1
}
