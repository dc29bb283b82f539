import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, take } from '../execution/holder.ts'
import { flowRow, groupRow, grown } from './grown.ts'
import * as stored from '../../support/stored.ts'

test('a closed flow ends with its last member', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, ids, connect } = await grown(engine, ['a', 'b'])
  await connect('a > b')
  expect(await engine.flows.close({ flowId })).toEqual({ kind: 'closed', flowId, graphRevision: 3 })
  expect(await groupRow(sql, ids['b']!)).toMatchObject({ is_sealed: true })
  await withoutWriting(sql, async () => {
    expect(await engine.flows.close({ flowId })).toEqual({ kind: 'already_closed', flowId, graphRevision: 3 })
  })
  for (const kind of ['a', 'b']) {
    expect(await flowRow(sql, flowId)).toMatchObject({ ended_at_ms: null })
    await engine.executions.complete(fenceOf(await take(engine, { kinds: [kind] })))
    await dispatched()
  }
  expect(await flowRow(sql, flowId)).toMatchObject({ outcome: 'success', success_count: 2 })
})

test('a flow whose members have all ended ends when it is closed, and an empty one does', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId } = await grown(engine, ['a'])
  await engine.executions.fail({ ...fenceOf(await take(engine)), reason: 'broke', permanent: true })
  await dispatched()
  expect(await flowRow(sql, flowId)).toMatchObject({ failed_count: 1, outcome: 'none' })
  await engine.flows.close({ flowId })
  expect(await flowRow(sql, flowId)).toMatchObject({ outcome: 'failed' })
  const empty = await engine.flows.create({ kind: 'f' })
  await engine.flows.close({ flowId: empty.flowId })
  expect(await flowRow(sql, empty.flowId)).toMatchObject({ outcome: 'success' })
  const events = await stored.events.pick(sql, ['outcome'], { event_type: 'flow_ended' })
  expect(events).toEqual([{ outcome: 'failed' }, { outcome: 'success' }])
})

test('a caller that waits for a flow is notified of the close that ends it', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'f' })
  const waiting = engine.flows.wait(flowId)
  await engine.flows.close({ flowId })
  expect(await waiting).toMatchObject({ state: 'completed' })
})

test('a flow that does not exist cannot be closed', async () => {
  const { engine } = await setup()
  await refusal('flow_not_found', engine.flows.close({ flowId: '{fp:7}:01900000-0000-7000-8000-000000000000' }))
})

test('one failure may have lost several groups that waited for more edges', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, connect } = await grown(engine, ['a', 'b', 'c'])
  for (const edge of ['a > b', 'a > c']) await connect(edge, { policy: { kind: 'any_of' } })
  await engine.executions.fail({ ...fenceOf(await take(engine, { kinds: ['a'] })), reason: 'broke', permanent: true })
  await dispatched()
  await engine.flows.close({ flowId })
  await dispatched()
  expect(await flowRow(sql, flowId)).toMatchObject({ outcome: 'failed', failed_count: 1, skipped_count: 2 })
})
