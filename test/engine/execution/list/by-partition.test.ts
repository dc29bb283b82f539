import { expect, test } from 'vitest'
import { mintExecutionId, type FlowId } from '../../../../src/model/id.ts'
import { factory } from '../../../support/factory.ts'
import { setup } from '../../../support/setup.ts'

test("EXEC-16 a partition's list pages in the order of ids, and its cursor is the last id", async () => {
  const { engine } = await setup()
  const flowId: FlowId = '{fp:7}:0190a3c4-0000-7000-8000-000000000001'
  const ids = Array.from({ length: 15 }, () => mintExecutionId({ flowId })).toSorted()
  await engine.executions.createMany(ids.toReversed().map((executionId) => ({ kind: 'k', executionId })))
  const pages = []
  let cursor: string | null = null
  do {
    const page = await engine.executions.list({ partition: '{fp:7}', limit: 5, ...(cursor === null ? {} : { cursor }) })
    pages.push(page.executions.map((found) => found.executionId))
    cursor = page.nextCursor
    if (cursor !== null) expect(cursor).toBe(page.executions.at(-1)?.executionId)
  } while (cursor !== null)
  expect(pages).toEqual([ids.slice(0, 5), ids.slice(5, 10), ids.slice(10, 15)])
  const pastTheEnd = await engine.executions.list({ partition: 7, limit: 5, cursor: ids[14]! })
  expect(pastTheEnd).toEqual({ executions: [], nextCursor: null })
})

test('another partition is another list', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const id = await given.waiting({ executionId: '{fp:3}:0190a3c4-0000-7000-8000-000000000001' })
  await given.waiting({ executionId: '{fp:4}:0190a3c4-0000-7000-8000-000000000002' })
  const page = await engine.executions.list({ partition: 3 })
  expect(page.executions.map((found) => found.executionId)).toEqual([id])
})
