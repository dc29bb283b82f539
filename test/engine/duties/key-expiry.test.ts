import { expect, test } from 'vitest'
import { keyExpiry } from '../../../src/engine/duties/key-expiry.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

test('an expired key is deleted, its execution is not, and the key is free', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const request = { kind: 'k', idempotencyKey: 'order 7', idempotencyTtl: '1m' as const }
  const { executionId } = await engine.executions.create(request)
  await clock.advance(59_999)
  expect(await withoutWriting(sql, () => keyExpiry.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await keyExpiry.runOnce(sql)).toEqual({ processed: 1, errors: 0, isFull: false, effects: {} })
  expect(await stored.idempotencyKeys.all(sql)).toEqual([])
  expect(await engine.executions.describe(executionId)).not.toBeNull()
  expect(await engine.executions.create(request)).toMatchObject({ kind: 'created' })
})

test('a run takes a limited number, of its namespace and tag', async () => {
  const { engine, sql, clock } = await setup()
  const create = (namespace: string, instance: string) =>
    engine.executions.create({ kind: 'k', namespace, tags: { instance }, idempotencyKey: instance })
  await create('a', 'one')
  await create('a', 'two')
  await create('b', 'two')
  await clock.advance('2d')
  const tag = { key: 'instance', value: 'two' }
  expect(await keyExpiry.runOnce(sql, { filter: { namespace: 'b' } })).toMatchObject({ processed: 1 })
  expect(await keyExpiry.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await keyExpiry.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 0 })
  expect(await keyExpiry.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, isFull: true })
})
