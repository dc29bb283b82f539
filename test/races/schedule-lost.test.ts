// Firings, puts, triggers and heartbeats whose reply was lost: the reply to a search, to a read, or to the commit.
import { expect, onTestFinished, test } from 'vitest'
import { scheduleFire } from '../../src/engine/duties/schedule-fire.ts'
import { EngineError } from '../../src/model/errors.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { setup } from '../support/setup.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'

const times = 20
const hourly = { scheduleId: 'report', kind: 'report', every: '1h', overlap: 'allow' } as const

test.each([
  ['the search', 0],
  ['the read', 1],
  ['the commit', 2],
])('a firing: when the answer to %s is lost, each time fires once', async (_, after) => {
  const { engine, sql, url, clock } = await setup()
  const proxy = await startLossyProxy(url)
  const lossy = await openPostgres({ url: proxy.url, schema: 'flowfabric' })
  onTestFinished(() => lossy.close())
  await engine.schedules.put(hourly)
  for (let round = 1; round <= times; round += 1) {
    await clock.advance('1h')
    proxy.loseNextReply(after)
    const { errors } = await scheduleFire.runOnce(lossy)
    proxy.loseNothing()
    expect(errors).toBe(0)
    // A connection that was cut holds its rows until the server has noticed it, and a run of the duty passes over them: the next
    // run gets them.
    const firedCount = async (): Promise<unknown> => {
      await scheduleFire.runOnce(sql)
      return stored.executions.count(sql)
    }
    await expect.poll(firedCount).toBe(round)
  }
  expect(proxy.lostCount()).toBeGreaterThan(times / 2)
  expect(await engine.schedules.describe({ scheduleId: 'report' })).toMatchObject({ firedCount: times })
})

test('a trigger whose reply is lost reports it, and has fired once or not at all', async () => {
  const { engine, sql, url } = await setup()
  const proxy = await startLossyProxy(url)
  const lossy = await secondEngine(proxy.url)
  await engine.schedules.put(hourly)
  await lossy.schedules.trigger({ scheduleId: 'report' })
  let [unknown, fired] = [0, 1]
  for (let round = 1; round <= times; round += 1) {
    // The reply to the search, to the read, or to the commit.
    proxy.loseNextReply(round % 3)
    const answer = await lossy.schedules.trigger({ scheduleId: 'report' }).catch((error: unknown) => error)
    proxy.loseNothing()
    if (EngineError.is(answer)) {
      expect(answer).toMatchObject({ code: 'database_unreachable', retryable: true })
      unknown += 1
    } else fired += 1
  }
  const firedCount = await stored.executions.count(sql)
  expect(firedCount).toBeGreaterThanOrEqual(fired)
  expect(firedCount).toBeLessThanOrEqual(fired + unknown)
  expect(await engine.schedules.describe({ scheduleId: 'report' })).toMatchObject({ firedCount })
})

test('a put, a registration and a heartbeat whose reply is lost are sent again', async () => {
  const { engine, url } = await setup()
  const proxy = await startLossyProxy(url)
  const lossy = await secondEngine(proxy.url)
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  await lossy.schedules.put(hourly)
  for (let round = 1; round <= times; round += 1) {
    proxy.loseNextReply(round % 2)
    const put = await lossy.schedules.put({ ...hourly, priority: round })
    expect(['changed', 'unchanged']).toContain(put.kind)
    proxy.loseNextReply()
    expect(['registered', 'refreshed']).toContain((await lossy.workers.register(worker)).kind)
    proxy.loseNextReply()
    expect(await lossy.workers.heartbeat({ workerInstanceId: 'w-1' })).toMatchObject({ kind: 'refreshed' })
    proxy.loseNothing()
    expect(await engine.schedules.describe({ scheduleId: 'report' })).toMatchObject({ priority: round })
  }
  expect(proxy.lostCount()).toBeGreaterThan(times)
})
