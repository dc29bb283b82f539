// The calls that a close lets finish, those that it ends, and those refused after it.
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'
import { emptyDatabase } from './empty-database.ts'
import * as stored from '../support/stored.ts'

test('a second close does nothing, and every use after it is refused as closed', async () => {
  const ff = await connect(await emptyDatabase())
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  await ff.close()
  await ff.close()
  const { executions, lanes } = ff.engine
  await refusal('engine_closed', executions.create({ kind: 'k' }))
  await refusal('engine_closed', executions.create({ kind: 'new', idempotencyKey: 'x' }))
  await refusal('engine_closed', executions.cancel({ executionId }))
  await refusal('engine_closed', executions.describe(executionId))
  await refusal('engine_closed', executions.result(executionId))
  await refusal('engine_closed', executions.list())
  await refusal('engine_closed', executions.countByState())
  await refusal('engine_closed', executions.setTag(executionId, 'a', 'b'))
  await refusal('engine_closed', executions.getTag(executionId, 'a'))
  await refusal('engine_closed', lanes.list())
  await refusal('engine_closed', ff.engine.serverTime())
  expect(await executions.createMany([{ kind: 'k' }])).toMatchObject([
    { kind: 'refused', error: { code: 'engine_closed' } },
  ])
})

test('a close lets accepted calls finish', async () => {
  const url = await emptyDatabase()
  const ff = await connect(url)
  const accepted = Array.from({ length: 1200 }, () => ff.engine.executions.create({ kind: 'k' }))
  await ff.close()
  const answers = await Promise.all(accepted)
  expect(answers.every((answer) => answer.kind === 'created')).toBe(true)
})

test('a close ends within its timeout, whatever waits in the database', async () => {
  const url = await emptyDatabase()
  const ff = await connect(url)
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  const held = await hold(url, stored.executions.lockingTable('access exclusive'))
  ff.supervise()
  const open = [
    refusal('engine_closed', ff.engine.executions.describe(executionId)),
    refusal('engine_closed', ff.engine.executions.cancel({ executionId })),
  ]
  await held.waiters(3)
  const timers = vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const endings: string[] = []
  const closed = ff.close().then(() => endings.push('closed'))
  for (let round = 1; round <= 500 && endings.length === 0; round += 1) {
    timers.advanceTimersByTime(10_000)
    // The sockets keep their own time.
    await setTimeout(5)
  }
  expect(endings).toEqual(['closed'])
  await Promise.all([closed, ...open])
})

test('the connection can be disposed at the end of a block', async () => {
  const url = await emptyDatabase()
  const ff = await connect(url)
  await ff[Symbol.asyncDispose]()
  await refusal('engine_closed', ff.engine.executions.list())
})
