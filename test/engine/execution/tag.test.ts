import { expect, test } from 'vitest'
import { mintExecutionId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

test('TAG-01 tags given at create are returned sorted by key', async () => {
  const { engine } = await setup()
  const tags = { zebra: '1', 'app.long_key': '2', a: '', b: 'ü "quoted"' }
  const { executionId } = await engine.executions.create({ kind: 'k', tags })
  const found = await engine.executions.describe(executionId)
  expect(found?.tags).toEqual(tags)
  expect(Object.keys(found!.tags)).toEqual(['a', 'app.long_key', 'b', 'zebra'])
})

test('a tag of an execution is set and read; a missing tag is null, and a missing execution not found', async () => {
  const { engine, sql } = await setup()
  const { executions } = engine
  const { executionId } = await executions.create({ kind: 'k' })
  await executions.setTag(executionId, 'cairn.project', 'a')
  expect(await executions.getTag(executionId, 'cairn.project')).toBe('a')
  expect(await executions.getTag(executionId, 'cairn')).toBeNull()
  expect(await executions.getTag(executionId, 'missing')).toBeNull()
  expect(await executions.getTag(mintExecutionId(), 'cairn.project')).toBeNull()
  expect((await executions.describe(executionId))?.tags).toEqual({ 'cairn.project': 'a' })
  await withoutWriting(sql, () => refusal('execution_not_found', executions.setTag(mintExecutionId(), 'a', 'b')))
})

test('setting a tag again replaces its value', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', tags: { a: '1' } })
  await engine.executions.setTag(executionId, 'a', '2')
  expect((await engine.executions.describe(executionId))?.tags).toEqual({ a: '2' })
  const page = (value: string) => engine.executions.list({ tag: { key: 'a', value } })
  expect((await page('1')).executions).toEqual([])
  expect((await page('2')).executions).toHaveLength(1)
})

test('TAG-03 a key that breaks the grammar is refused by set and get, and by create', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  for (const key of ['cairn.task_id', 'app.sub.field', 'no_dot']) {
    await engine.executions.setTag(executionId, key, 'x')
    expect(await engine.executions.getTag(executionId, key)).toBe('x')
  }
  await withoutWriting(sql, async () => {
    for (const key of ['Cairn.x', 'cairn.', 'cairn..x', 'cairn.Foo', 'cairn.foo bar', '1a.b', '', 'a\0b', 7 as never]) {
      await refusal('invalid_tag', engine.executions.setTag(executionId, key, 'x'))
      await refusal('invalid_tag', engine.executions.getTag(executionId, key))
    }
    await refusal('invalid_tag', engine.executions.create({ kind: 'k', tags: { 'cairn.': 'x' } }))
  })
})

test.each([
  ['a NUL', 'a\0b'],
  ['a lone surrogate', '\uDC00'],
  ['more than 1 KiB', 'x'.repeat(1025)],
  ['no text', null as never],
])('a tag value with %s is refused, and nothing is written', async (_, value) => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await withoutWriting(sql, () => refusal('invalid_tag', engine.executions.setTag(executionId, 'a', value)))
})

test('TAG-04 setting a tag moves the mutation time, even within one millisecond', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const mutatedAt = async () => (await engine.executions.describe(executionId))!.lastMutationAt
  const times = [await mutatedAt()]
  await engine.executions.setTag(executionId, 'a', '1')
  times.push(await mutatedAt())
  await engine.executions.setTag(executionId, 'a', '2')
  times.push(await mutatedAt())
  await clock.advance('1m')
  await engine.executions.setTag(executionId, 'a', '3')
  times.push(await mutatedAt())
  const [created, first, second, third] = times as [number, number, number, number]
  expect(first).toBeGreaterThan(created)
  expect(second).toBeGreaterThan(first)
  expect(third).toBe(await clock.now())
})

test('the 65th tag is refused, while the 64 can still be changed', async () => {
  const { engine, sql } = await setup()
  const tags = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`t${index}`, 'x']))
  const { executionId } = await engine.executions.create({ kind: 'k', tags })
  const error = await withoutWriting(sql, () =>
    refusal('invalid_tag', engine.executions.setTag(executionId, 'more', 'x')),
  )
  expect(error.message).toContain('64')
  await engine.executions.setTag(executionId, 't0', 'y')
  expect(await engine.executions.getTag(executionId, 't0')).toBe('y')
})

test('an ended execution can still be tagged', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).failed()
  await engine.executions.setTag(executionId, 'seen_by', 'ann')
  expect(await engine.executions.getTag(executionId, 'seen_by')).toBe('ann')
})

test('TAG-07 the namespace of an execution is read', async () => {
  const { engine } = await setup()
  const named = await engine.executions.create({ kind: 'k', namespace: 'shop' })
  const plain = await engine.executions.create({ kind: 'k' })
  expect(await engine.executions.getNamespace(named.executionId)).toBe('shop')
  expect(await engine.executions.getNamespace(plain.executionId)).toBe('default')
  expect(await engine.executions.getNamespace(mintExecutionId())).toBeNull()
})
