import { expect, test } from 'vitest'
import { mintExecutionId } from '../../../../src/model/id.ts'
import { factory } from '../../../support/factory.ts'
import { setup } from '../../../support/setup.ts'
import { idsOf } from '../page-through.ts'

test('the children of an execution are listed newest first, in any state', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parentId = await given.suspended()
  const other = await given.suspended()
  const children = [
    await given.completed({ parentId, createdAt: 1000 }),
    await given.active({ parentId, createdAt: 2000 }),
    await given.waiting({ parentId, createdAt: 3000 }),
  ]
  await given.waiting({ parentId: other })
  expect(await idsOf(engine, { parentId }, 2)).toEqual(children.toReversed())
  expect(await idsOf(engine, { parentId, state: 'completed' }, 2)).toEqual([children[0]])
  expect(await idsOf(engine, { parentId: mintExecutionId() }, 2)).toEqual([])
})

test('children of one millisecond are each listed once, page by page', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parentId = await given.suspended()
  const ids = []
  for (let index = 0; index < 5; index++) ids.push(await given.waiting({ parentId, createdAt: 1000 }))
  for (const limit of [1, 2]) expect((await idsOf(engine, { parentId }, limit)).toSorted()).toEqual(ids.toSorted())
})
