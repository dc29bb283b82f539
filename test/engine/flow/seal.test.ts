import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { mintExecutionId, type ExecutionId, type FlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, take } from '../execution/holder.ts'
import { flowRow, groupRow, grown } from './grown.ts'

test('a group is sealed with its current edges', async () => {
  const { engine, sql } = await setup()
  const { flowId, ids, connect } = await grown(engine, ['a', 'b', 'c'])
  await connect('a > c')
  await connect('b > c')
  const downstream = ids['c']!
  expect(await engine.flows.seal({ flowId, downstream })).toEqual({ kind: 'sealed', flowId, downstream, total: 2 })
  expect(await groupRow(sql, downstream)).toMatchObject({ is_sealed: true, total: 2 })
  expect(await flowRow(sql, flowId)).toMatchObject({ graph_revision: 5 })
  await withoutWriting(sql, async () => {
    const again = await engine.flows.seal({ flowId, downstream })
    expect(again).toEqual({ kind: 'already_sealed', flowId, downstream, total: 2 })
  })
})

test('a quorum larger than its edges allow is refused when it is sealed, and so is closing its flow', async () => {
  const { engine, sql } = await setup()
  const { flowId, ids, connect } = await grown(engine, ['a', 'b'])
  await connect('a > b', { policy: { kind: 'quorum', k: 2 } })
  await withoutWriting(sql, async () => {
    const error = await refusal('invalid_dependency', engine.flows.seal({ flowId, downstream: ids['b']! }))
    expect(error.message).toContain('needs 2 inbound edges and has 1')
    await refusal('invalid_dependency', engine.flows.close({ flowId }))
    await refusal('invalid_dependency', engine.flows.seal({ flowId, downstream: ids['a']! }))
    await refusal('execution_not_in_flow', engine.flows.seal({ flowId, downstream: mintExecutionId({ flowId }) }))
  })
})

const ways = {
  sealed: (engine: Engine, flowId: FlowId, downstream: ExecutionId) => engine.flows.seal({ flowId, downstream }),
  closed: (engine: Engine, flowId: FlowId) => engine.flows.close({ flowId }),
  // Its members continue, and no edge can be added any more.
  cancelled: (engine: Engine, flowId: FlowId) => engine.flows.cancel({ flowId, policy: 'flow_only' }),
}

for (const [how, act] of Object.entries(ways)) {
  test(`a group that waited for more edges is lost when it is ${how}, and its member is skipped`, async () => {
    const { engine, sql, dispatched } = await setup()
    const { flowId, ids, connect } = await grown(engine, ['a', 'b', 'c'])
    await connect('a > b', { policy: { kind: 'any_of' } })
    await connect('b > c')
    await engine.executions.fail({ ...fenceOf(await take(engine, { kinds: ['a'] })), reason: 'broke', permanent: true })
    await dispatched()
    expect(await engine.executions.describe(ids['b']!)).toMatchObject({ publicState: 'waiting_children' })
    await act(engine, flowId, ids['b']!)
    await dispatched()
    expect(await groupRow(sql, ids['b']!)).toMatchObject({ state: 'impossible', failed: 1, is_sealed: true })
    for (const name of ['b', 'c']) {
      expect(await engine.executions.describe(ids[name]!)).toMatchObject({ publicState: 'skipped' })
    }
    expect(await flowRow(sql, flowId)).toMatchObject({ failed_count: 1, skipped_count: 2 })
  })
}

test.each(['before', 'after'])(
  'a quorum larger than its edges allow is lost when its flow alone is cancelled, %s they are resolved',
  async (when) => {
    const { engine, sql, dispatched } = await setup()
    const { flowId, ids, connect } = await grown(engine, ['a', 'b', 'c'])
    for (const edge of ['a > c', 'b > c'])
      await connect(edge, { policy: { kind: 'quorum', k: 3, onSatisfied: 'let_run' } })
    const cancel = async () => {
      await engine.flows.cancel({ flowId, policy: 'flow_only' })
      await dispatched()
    }
    if (when === 'before') await cancel()
    for (const kind of ['a', 'b']) {
      await engine.executions.complete(fenceOf(await take(engine, { kinds: [kind] })))
      await dispatched()
    }
    if (when === 'after') await cancel()
    expect(await engine.executions.describe(ids['c']!)).toMatchObject({ publicState: 'skipped' })
    expect(await flowRow(sql, flowId)).toMatchObject({ outcome: 'cancelled', success_count: 2, skipped_count: 1 })
  },
)
