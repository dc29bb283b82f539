import { expect, test } from 'vitest'
import { retention } from '../../../src/engine/duties/retention.ts'
import { setup } from '../../support/setup.ts'
import { contents, withoutWriting } from '../../support/written.ts'
import { graphOf, walk } from '../flow/walk.ts'

const forAWeek = retention(7 * 86_400_000)

test('a flow that ended long ago is deleted with its inner flows, and with every row of its members', async () => {
  const fixture = await setup()
  const { engine, sql, clock } = fixture
  await walk(fixture, { edges: ['p > q'] }, { tags: { team: 'core' } })
  const before = await contents(sql)
  const inner = { kind: 'inner', ...graphOf({ edges: ['x > y'] }) }
  const members = [{ name: 'in', flow: inner }]
  const flow = await walk(fixture, { edges: ['a > in', 'in > b'], members }, { tags: { team: 'core' } })
  await engine.flows.cancel({ flowId: flow.flowId, wait: '1m' })
  await clock.advance('6d')
  expect(await withoutWriting(sql, () => forAWeek.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance('2d')
  // The outermost flow and five members.
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 6, errors: 0 })
  expect(await engine.flows.describe(flow.flowId)).toBeNull()
  // The log has a retention of its own, and queues stay.
  const { ff_event: _event, ff_queue: _queue, ...after } = await contents(sql)
  expect(before).toMatchObject(after)
})

test('a member stays as long as its flow, and the flow until all members ended long ago', async () => {
  const fixture = await setup()
  const { sql, clock } = fixture
  const flow = await walk(fixture, { members: ['a', 'b'] })
  await flow.end('a')
  await clock.advance('8d')
  expect(await withoutWriting(sql, () => forAWeek.runOnce(sql))).toMatchObject({ processed: 0 })
  await flow.end('b')
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0 })
  await clock.advance('8d')
  expect(await forAWeek.runOnce(sql, { filter: { namespace: 'other' } })).toMatchObject({ processed: 0 })
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 3 })
})
