import { expect, test } from 'vitest'
import { encodeEventCursor } from '../../../src/engine/event/cursor.ts'
import { logBlocks } from '../../../src/engine/duties/log-blocks.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { subscriber, take } from '../event/subscriber.ts'
import * as stored from '../../support/stored.ts'
import { moveLog, logBlocksOf } from '../../support/event-log.ts'

const day = 86_400_000
const forAWeek = logBlocks({ keptForMs: 7 * day })
const inTens = logBlocks({ keptForMs: 7 * day, blockSize: 10 })
const firstEnd = 10_000_001

const firstBlock = `1: MINVALUE to ${firstEnd}`

test('the next block is created when the last is half full, once', async () => {
  const { sql } = await setup()
  await moveLog(sql, 5_000_000)
  expect(await forAWeek.runOnce(sql)).toEqual({ processed: 0, errors: 0, isFull: false, effects: {} })
  await moveLog(sql, 5_000_001)
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  expect(await logBlocksOf(sql)).toEqual([firstBlock, '10000001: 10000001 to 20000001'])
})

test('a log that has no block for its next event gets the one that it needs', async () => {
  const { engine, sql } = await setup()
  await moveLog(sql, 31_000_000)
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await logBlocksOf(sql)).toEqual([firstBlock, '30000001: 30000001 to 40000001'])
  await engine.executions.cancel({ executionId: await factory(sql).waiting() })
  expect(await stored.events.pick(sql, ['event_id'])).toEqual([{ event_id: 31_000_000 }])
})

test('a block is dropped when its newest event is too old and the log has continued; the last one with events never', async () => {
  const { sql, clock } = await setup()
  const given = factory(sql)
  await moveLog(sql, firstEnd - 1)
  await given.completed()
  await inTens.runOnce(sql)
  await clock.advance('8d')
  // No event has been added since, so this is the end of the log.
  expect(await inTens.runOnce(sql)).toMatchObject({ processed: 0 })
  await given.completed()
  expect(await inTens.runOnce(sql)).toMatchObject({ processed: 1, isFull: true })
  expect(await logBlocksOf(sql)).toEqual([`${firstEnd}: ${firstEnd} to ${firstEnd + 10}`])
  await clock.advance('30d')
  expect(await inTens.runOnce(sql)).toMatchObject({ processed: 0, isFull: false })
})

test('a block with one event that is young enough stays', async () => {
  const { sql, clock } = await setup()
  const given = factory(sql)
  await clock.freeze()
  await moveLog(sql, firstEnd - 2)
  await given.completed()
  await clock.advance('1d')
  await given.completed()
  await inTens.runOnce(sql)
  await given.completed()
  await clock.advance('7d')
  expect(await inTens.runOnce(sql)).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await inTens.runOnce(sql)).toMatchObject({ processed: 1 })
})

test('a log that is kept for a while has few blocks, and no write ever waits for one', async () => {
  const { engine, sql, clock } = await setup()
  const given = factory(sql)
  await moveLog(sql, firstEnd - 5)
  for (let days = 0; days < 24; days++) {
    await inTens.runOnce(sql)
    for (let count = 0; count < 5; count++) await engine.executions.cancel({ executionId: await given.waiting() })
    await clock.advance('1d')
  }
  while ((await inTens.runOnce(sql)).isFull);
  // A week of events, five a day: four blocks of ten, the one that they begin in, and the next. A write that found none
  // would have created a large one.
  const found = await logBlocksOf(sql)
  expect(found.length).toBeLessThanOrEqual(6)
  const sizes = found.map((block) => block.match(/\d+/g)!.map(Number)).map(([, first, end]) => end! - first!)
  expect(new Set(sizes)).toEqual(new Set([10]))
  const kept = await stored.events.count(sql)
  expect(kept).toBeGreaterThanOrEqual(35)
  expect(kept).toBeLessThanOrEqual(50)
})

test('a subscriber with a cursor older than the log is notified, once, and continues', async () => {
  const { sql, clock } = await setup()
  const given = factory(sql)
  await moveLog(sql, firstEnd - 1)
  await given.completed()
  await inTens.runOnce(sql)
  await clock.advance('8d')
  const kept = await given.completed()
  const subscription = await subscriber(sql)({ after: encodeEventCursor(1) })
  expect(await inTens.runOnce(sql)).toMatchObject({ processed: 1 })
  const [notice, event] = await take(subscription, 2)
  const cursor = encodeEventCursor(firstEnd - 1)
  expect(notice).toEqual({ kind: 'truncated', after: encodeEventCursor(1), cursor })
  expect(event).toMatchObject({ kind: 'ended', executionId: kept })
})
