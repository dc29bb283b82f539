// Where a read of the owed endings begins.
import { expect, test } from 'vitest'
import { Dispatcher } from '../../../src/engine/duties/dispatcher.ts'
import { DispatchHead } from '../../../src/engine/dispatch/head.ts'
import { pendingDispatch } from '../../../src/engine/kernel/pending-dispatch.ts'
import { dispatch } from '../../../src/engine/duties/dispatch.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { walk } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'

test('a read begins a second before the oldest ending that the last one found, or at the start of the last one if it found none', () => {
  const head = new DispatchHead()
  expect(head.begin(0)).toBe(0)
  head.advance(50_000, 1)
  expect(head.begin(2)).toBe(49_000)
  head.advance(null, 3)
  expect(head.begin(4)).toBe(49_000)
  head.advance(60_000, 5)
  expect(head.begin(6)).toBe(59_000)
})

test('the next read finds locked endings again, though younger ones were done', () => {
  const head = new DispatchHead()
  head.advance(90_000, 0)
  head.advance(50_000, 1)
  expect(head.begin(2)).toBe(49_000)
})

test('after a second without a read it begins at the head, and a long read is no such second', () => {
  const head = new DispatchHead()
  head.advance(50_000, 0)
  expect(head.begin(999)).toBe(49_000)
  head.advance(50_000, 5000)
  expect(head.begin(5999)).toBe(49_000)
  expect(head.begin(6000)).toBe(0)
})

test('a dispatcher does not read again what it has processed; the duty finds endings that became visible too late', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql, clock } = fixture
  const flow = await walk(fixture, { edges: ['a > z', 'b > z', 'c > z', 'd > z'] })
  for (const name of ['a', 'b', 'c', 'd']) {
    await flow.end(name)
    await clock.advance('1m')
  }
  // Its commit takes long.
  const commitLate = await stored.dispatches.takeAway(sql, { execution_id: flow.uuidOf('a') })
  const found = await stored.dispatches.pick(sql, ['created_at_ms'])
  const [b, c, d] = found.map((row) => row.created_at_ms)
  const begins: unknown[] = []
  // Sets of one, and each time there is more.
  const decide: Sql['decide'] = async (reads, ...rest) => {
    const [take, ...others] = reads
    begins.push(take!.values['from_ms'])
    const single = { ...take!, values: { ...take!.values, batch: 1 } }
    const answer = await sql.decide([single, ...others] as unknown as typeof reads, ...rest)
    if (begins.length < 4) dispatcher.start(pendingDispatch.flow)
    if (begins.length === 1) await commitLate()
    return answer
  }
  const dispatcher = new Dispatcher({ ...around(sql, (ask) => ask()), decide }, () => {})
  dispatcher.start(pendingDispatch.flow)
  await dispatcher.idle()
  expect(begins).toEqual([0, b! - 1000, c! - 1000, d! - 1000])
  expect(await stored.dispatches.pick(sql, ['execution_id'])).toEqual([{ execution_id: flow.uuidOf('a') }])
  expect(await dispatch.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await flow.states()).toMatchObject({ z: 'waiting' })
})
