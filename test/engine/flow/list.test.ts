import { expect, test } from 'vitest'
import { mintFlowId, parseFlowId, type FlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import type { Engine, ListFlowsRequest } from '../../../src/index.ts'
import { hold } from './worked.ts'
import { addFlows } from '../../support/changes.ts'

const members = [{ name: 'a', kind: 'a' }]

async function pagesOf(engine: Engine, request: ListFlowsRequest): Promise<FlowId[][]> {
  const pages: FlowId[][] = []
  let cursor: string | null = null
  do {
    const page = await engine.flows.list({ ...request, ...(cursor !== null && { cursor }) })
    pages.push(page.flows.map(({ flowId }) => flowId))
    cursor = page.nextCursor
  } while (cursor !== null)
  return pages
}

function inPartition(count: number): FlowId[] {
  return Array.from({ length: count }, () => `{fp:7}:${parseFlowId(mintFlowId()).uuid}` as FlowId)
}

test('FLOW-23 the flows of a partition are listed in pages, each once, in the order of their ids', async () => {
  const { engine } = await setup()
  const flowIds = inPartition(5)
  for (const flowId of flowIds.toReversed()) await engine.flows.submitGraph({ flowId, kind: 'k', members })
  await engine.flows.cancel({ flowId: flowIds[1]!, policy: 'cancel_all' })
  const [a, b, c, d, e] = flowIds
  expect(await pagesOf(engine, { partition: 7, limit: 2 })).toEqual([[a, b], [c, d], [e]])
  expect(await pagesOf(engine, { partition: '{fp:7}', state: 'cancelled' })).toEqual([[b]])
  expect(await pagesOf(engine, { partition: 7, limit: 0 })).toEqual([[]])
  expect(await pagesOf(engine, { partition: 8 })).toEqual([[]])
})

test('FLOW-23 flows are listed newest first, of all namespaces or of one', async () => {
  const { engine, clock } = await setup()
  const made: FlowId[] = []
  for (const namespace of ['a', 'b', 'a', 'b', 'a']) {
    made.push((await engine.flows.submitGraph({ kind: 'k', namespace, members })).flowId)
    await clock.advance(1)
  }
  const [first, second, third, fourth, fifth] = made
  expect(await pagesOf(engine, { limit: 2 })).toEqual([[fifth, fourth], [third, second], [first]])
  expect(await pagesOf(engine, { namespace: 'a', limit: 2 })).toEqual([[fifth, third], [first]])
  const bound = engine.as({ namespace: 'b' })
  expect(await pagesOf(bound, { limit: 1 })).toEqual([[fourth], [second]])
  expect(await pagesOf(bound, { namespace: 'a' })).toEqual([[]])
})

test('a list of flows can be filtered by state', async () => {
  const { engine } = await setup()
  const started = await engine.flows.submitGraph({ kind: 'k', members })
  await hold(engine, 'a')
  const fresh = await engine.flows.submitGraph({ kind: 'k', members })
  expect(await pagesOf(engine, { state: 'running' })).toEqual([[started.flowId]])
  expect(await pagesOf(engine, { state: 'open', namespace: 'default' })).toEqual([[fresh.flowId]])
  expect(await pagesOf(engine, { state: 'failed' })).toEqual([[]])
})

test('a search for a rare state reads a bounded number of flows, and its cursor continues from there', async () => {
  const { engine, sql } = await setup()
  const { flowId } = await engine.flows.submitGraph({ kind: 'k', members })
  await engine.flows.cancel({ flowId, wait: '1m' })
  await addFlows(sql, 1200, 'k')
  const pages = await pagesOf(engine, { state: 'cancelled', limit: 5 })
  expect(pages).toEqual([[], [flowId]])
})

test('a list of flows refuses unknown fields, and a cursor of another list', async () => {
  const { engine } = await setup()
  for (const flowId of inPartition(2)) await engine.flows.submitGraph({ flowId, kind: 'k', members })
  const { nextCursor: cursor } = await engine.flows.list({ limit: 1 })
  await refusal('invalid_cursor', engine.flows.list({ cursor: cursor!, namespace: 'a' }))
  await refusal('invalid_cursor', engine.flows.list({ cursor: cursor!, partition: 7 }))
  await refusal('invalid_cursor', engine.flows.list({ cursor: mintFlowId(), partition: 7 }))
  const { message } = await refusal('invalid_input', engine.flows.list({ state: 'runing' as 'running' }))
  expect(message).toContain('did you mean running?')
  await refusal('invalid_input', engine.flows.list({ kind: 'k' } as never))
})
