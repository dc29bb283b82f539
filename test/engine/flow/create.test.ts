import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { mintFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { flowRow } from './grown.ts'
import * as stored from '../../support/stored.ts'

test('FLOW-01 a flow is created empty and open, and a repeat returns duplicate and changes nothing', async () => {
  const { engine, sql } = await setup()
  const flowId = mintFlowId()
  const request = { flowId, kind: 'pipeline', namespace: 'n', tags: { team: 'x' }, creator: 'me' }
  expect(await engine.flows.create(request)).toEqual({ kind: 'created', flowId, graphRevision: 0 })
  const flow = await flowRow(sql, flowId)
  expect(flow).toMatchObject({
    graph_revision: 0,
    member_count: 0,
    edge_count: 0,
    closed_at_ms: null,
    ended_at_ms: null,
    outcome: 'none',
    namespace: 'n',
    flow_kind: 'pipeline',
    creator_identity: 'me',
  })
  expect(flow['created_at_ms']).toBe(flow['last_mutation_at_ms'])
  expect(flow['root_flow_id']).toBe(flow['flow_id'])
  const tags = await stored.flowTags.pick(sql, ['tag_key', 'tag_value'])
  expect(tags).toEqual([{ tag_key: 'team', tag_value: 'x' }])
  await withoutWriting(sql, async () => {
    const again = await engine.flows.create({ ...request, kind: 'another' })
    expect(again).toEqual({ kind: 'duplicate', flowId, graphRevision: 0 })
  })
  const events = await stored.events.pick(sql, ['event_type', 'actor', 'execution_id'])
  expect(events).toEqual([{ event_type: 'flow_created', actor: 'local', execution_id: null }])
})

test('an id that another namespace or another partition has is refused', async () => {
  const { engine, sql } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'k', namespace: 'a' })
  const elsewhere = flowId.replace(/\d+(?=\})/, (n) => String((Number(n) + 1) % 256)) as typeof flowId
  await withoutWriting(sql, async () => {
    await refusal('flow_id_taken', engine.flows.create({ flowId, kind: 'k', namespace: 'b' }))
    await refusal('flow_id_taken', engine.flows.create({ flowId: elsewhere, kind: 'k', namespace: 'a' }))
  })
})

const bad: readonly (readonly [string, ErrorCode, Record<string, unknown>])[] = [
  ['without a kind', 'invalid_input', {}],
  ['with an empty kind', 'invalid_input', { kind: '' }],
  ['with a broken id', 'invalid_id', { kind: 'k', flowId: 'x' }],
  ['with a bad tag', 'invalid_tag', { kind: 'k', tags: { Bad: 'x' } }],
  ['with members', 'invalid_input', { kind: 'k', members: [] }],
  ['in the namespace of all', 'invalid_input', { kind: 'k', namespace: '*' }],
]

test.each(bad)('a flow %s is refused, and nothing is written', async (_, code, request) => {
  const { engine, sql } = await setup()
  type Request = Parameters<Engine['flows']['create']>[0]
  await withoutWriting(sql, () => refusal(code, engine.flows.create(request as unknown as Request)))
})
