import { expect, test } from 'vitest'
import { grantExpiry } from '../../../src/engine/duties/grant-expiry.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimNext } from './claimed.ts'
import * as stored from '../../support/stored.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1' }

test('an unused grant is deleted after its expiry, and the execution can be claimed and granted', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await engine.executions.grant({ executionId, ...worker, ttl: '10s' })
  await clock.advance(9999)
  expect(await withoutWriting(sql, () => grantExpiry.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await grantExpiry.runOnce(sql)).toEqual({ processed: 1, errors: 0, isFull: false, effects: {} })
  expect(await stored.grants.all(sql)).toEqual([])
  expect(await engine.executions.grant({ executionId, ...worker, ttl: 1 })).toMatchObject({ kind: 'granted' })
  await clock.advance('1m')
  expect(await grantExpiry.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await claimNext(engine)).toMatchObject({ executionId })
})

test('a run takes a limited number, of its namespace and tag', async () => {
  const { engine, sql, clock } = await setup()
  const grant = async (namespace: string, instance: string) => {
    const { executionId } = await engine.executions.create({ kind: 'k', namespace, tags: { instance } })
    await engine.executions.grant({ executionId, ...worker })
  }
  await grant('a', 'one')
  await grant('a', 'two')
  await grant('b', 'two')
  await clock.advance('1m')
  const tag = { key: 'instance', value: 'two' }
  expect(await grantExpiry.runOnce(sql, { filter: { namespace: 'b' } })).toMatchObject({ processed: 1 })
  expect(await grantExpiry.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await grantExpiry.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 0 })
  expect(await grantExpiry.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, isFull: true })
})
