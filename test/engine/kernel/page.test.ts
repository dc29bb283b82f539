import { expect, test } from 'vitest'
import { filteredOrder, partitionOrder } from '../../../src/engine/kernel/list-source.ts'
import { ascending, cutPage, descending, from, orderBy, pageLimit, readPage } from '../../../src/engine/kernel/page.ts'
import { encodeCursor } from '../../../src/model/cursor.ts'
import { refused } from '../../model/refused.ts'

const order = orderBy('numbers', { n: from(0) })
const numbers = (after: { readonly n: number }, limit: number) =>
  Array.from({ length: 5 }, (_, index) => ({ n: index + 1 }))
    .filter(({ n }) => n > after.n)
    .slice(0, limit)

test('pages go through a list once, and the last one has no cursor', async () => {
  const read: number[][] = []
  let cursor: string | null | undefined
  do {
    const request = cursor === undefined ? { limit: 2 } : { limit: 2, cursor: cursor! }
    const page = await readPage(request, order, numbers)
    read.push(page.rows.map(({ n }) => n))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(read).toEqual([[1, 2], [3, 4], [5]])
})

test('a full last page has no cursor either', () => {
  expect(cutPage(order, 2, [{ n: 4 }, { n: 5 }])).toEqual({ rows: [{ n: 4 }, { n: 5 }], nextCursor: null })
})

test('an empty page reads nothing, but its cursor is checked', async () => {
  const never = () => Promise.reject(new Error('read'))
  expect(await readPage({ limit: 0 }, order, never)).toEqual({ rows: [], nextCursor: null })
  await expect(readPage({ limit: 0, cursor: 'x' }, order, never)).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test('a cursor has the values of the columns in their order, and the name of its list', () => {
  const byTime = orderBy('things', { at_ms: descending.int, name: ascending.text })
  const cursor = encodeCursor('things', [7, 'a'])
  expect(byTime.encode({ name: 'a', at_ms: 7 })).toBe(cursor)
  expect(byTime.decode(cursor)).toEqual({ at_ms: 7, name: 'a' })
  expect(byTime.start).toEqual({ at_ms: Number.MAX_SAFE_INTEGER, name: '' })
  refused('invalid_cursor', () => order.decode(cursor))
})

test('a cursor of a list with a filter is valid for that filter only', () => {
  const byName = filteredOrder('things by name', { name: ascending.text })
  const cursor = byName({ color: 'red' }).encode({ name: 'a' })
  expect(byName({ color: 'red' }).decode(cursor)).toEqual({ name: 'a' })
  refused('invalid_cursor', () => byName({ color: 'blue' }).decode(cursor))
})

test('within a partition the cursor is the last id, and valid for that partition only', () => {
  const uuid = '550e8400-e29b-41d4-a716-446655440000'
  const ids = partitionOrder('flow', 7)
  expect(ids.encode({ flow_id: uuid })).toBe(`{fp:7}:${uuid}`)
  expect(ids.decode(`{fp:7}:${uuid}`)).toEqual({ flow_id: uuid })
  expect(refused('invalid_cursor', () => ids.decode(`{fp:8}:${uuid}`)).message).toBe(
    'the cursor is of partition 8, the list of 7; start without a cursor',
  )
  expect(refused('invalid_cursor', () => ids.decode('x')).message).toBe(
    'the cursor of a list by partition is the last flow id of the page before',
  )
})

test('a limit above the most counts as the most, and other values are refused', () => {
  expect([pageLimit(undefined), pageLimit(0), pageLimit(2000), pageLimit(2000, 10)]).toEqual([50, 0, 1000, 10])
  for (const limit of [-1, 1.5, Number.NaN, '3' as unknown as number]) {
    expect(refused('invalid_input', () => pageLimit(limit)).details).toEqual({ field: 'limit' })
  }
})
