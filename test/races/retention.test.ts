import { expect, test } from 'vitest'
import { grantExpiry } from '../../src/engine/duties/grant-expiry.ts'
import { keyExpiry } from '../../src/engine/duties/key-expiry.ts'
import { retention } from '../../src/engine/duties/retention.ts'
import { EngineError } from '../../src/model/errors.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'

const atOnce = retention(0)

test('of a replay and the retention of the same execution, one wins', async () => {
  const { engine, sql, url } = await setup()
  const operators = await secondEngine(url)
  const given = factory(sql)
  const wins = { replayed: 0, gone: 0 }
  for (let round = 0; round < 50; round++) {
    const executionId = await given.completed({ endedAt: 1, tags: { a: 'b' } })
    const replay = operators.executions.replay({ executionId }).then(
      () => 'replayed' as const,
      (error: unknown) => {
        if (EngineError.is(error) && error.code === 'execution_not_found') return 'gone' as const
        throw error
      },
    )
    const [answer, run] = await Promise.all([replay, atOnce.runOnce(sql)])
    wins[answer]++
    expect(run).toMatchObject({ processed: answer === 'gone' ? 1 : 0, errors: 0 })
    const found = await engine.executions.describe(executionId)
    expect(found?.publicState).toBe(answer === 'gone' ? undefined : 'waiting')
  }
  expect(wins.replayed + wins.gone).toBe(50)
})

test('a locked execution stays until the lock is released, and the others are deleted', async () => {
  const { sql, url } = await setup()
  const given = factory(sql)
  const locked = await given.completed({ endedAt: 1 })
  await given.completed({ endedAt: 2 })
  const lock = stored.executions.lockingRows('no key update', 'execution_id = $1')
  const held = await hold(url, lock, [parseExecutionId(locked).uuid])
  expect(await atOnce.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  await held.release()
  await expect.poll(() => atOnce.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
})

test('a tag that is set while its execution is deleted is written or refused, never left behind', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const given = factory(sql)
  for (let round = 0; round < 50; round++) {
    const executionId = await given.completed({ endedAt: 1 })
    const tagging = other.executions.setTag(executionId, 'a', 'b').catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'execution_not_found' })
    })
    await Promise.all([tagging, atOnce.runOnce(sql)])
    // If it is not deleted yet, it is deleted now, with its tag.
    await atOnce.runOnce(sql)
    expect(await engine.executions.describe(executionId)).toBeNull()
  }
  expect(await stored.executionTags.all(sql)).toEqual([])
})

test('one create takes an expired key, while the duty deletes it', async () => {
  const { sql, url, clock } = await setup()
  const [one, two] = [await secondEngine(url), await secondEngine(url)]
  for (let round = 0; round < 50; round++) {
    const request = { kind: 'k', idempotencyKey: `key-${round}`, idempotencyTtl: 1 }
    const { executionId: first } = await one.executions.create(request)
    await one.executions.cancel({ executionId: first })
    await clock.advance(10)
    const again = { ...request, idempotencyTtl: '1h' as const }
    const [left, right] = await Promise.all([
      one.executions.create(again),
      two.executions.create(again),
      keyExpiry.runOnce(sql),
      atOnce.runOnce(sql),
    ])
    expect([left.kind, right.kind].toSorted()).toEqual(['created', 'duplicate'])
    expect(left.executionId).toBe(right.executionId)
    expect(left.executionId).not.toBe(first)
    expect(await stored.idempotencyKeys.all(sql, `idempotency_key = 'key-${round}'`)).toHaveLength(1)
  }
})

test('a grant that is given anew while the old one is deleted stays valid', async () => {
  const { engine, sql, url, clock } = await setup()
  const other = await secondEngine(url)
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const worker = { workerId: 'w', workerInstanceId: 'w-1' }
  for (let round = 0; round < 50; round++) {
    const [granted] = await Promise.all([other.executions.grant({ executionId, ...worker }), grantExpiry.runOnce(sql)])
    const grants = await stored.grants.pick(sql, ['grant_id'])
    expect(grants).toEqual([{ grant_id: granted.grantId }])
    await clock.advance('1m')
  }
})
