import { expect, test } from 'vitest'
import { mintFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'

const request = { kind: 'k', members: [{ name: 'a', kind: 'a' }] }

test('TAG-02 a tag of a flow is set and read', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(request)
  await engine.flows.setTag(flowId, 'cairn.project', 'a')
  expect(await engine.flows.getTag(flowId, 'cairn.project')).toBe('a')
  expect(await engine.flows.getTag(flowId, 'missing')).toBeNull()
  expect(await engine.flows.getTag(mintFlowId(), 'cairn.project')).toBeNull()
  await refusal('flow_not_found', engine.flows.setTag(mintFlowId(), 'cairn.project', 'a'))
  await refusal('invalid_tag', engine.flows.setTag(flowId, 'cairn.', 'a'))
  await engine.flows.setTag(flowId, 'cairn.project', 'b')
  expect((await engine.flows.describe(flowId))!.tags).toEqual({ 'cairn.project': 'b' })
})

test('TAG-04 a tag moves the time of the last change', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(request)
  const before = (await engine.flows.describe(flowId))!.lastMutationAt
  await engine.flows.setTag(flowId, 'team', 'core')
  expect((await engine.flows.describe(flowId))!.lastMutationAt).toBeGreaterThan(before)
})

test('a flow has at most 64 tags', async () => {
  const { engine } = await setup()
  const tags = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`t${index}`, 'x']))
  const { flowId } = await engine.flows.submitGraph({ ...request, tags })
  await engine.flows.setTag(flowId, 't0', 'y')
  await refusal('invalid_tag', engine.flows.setTag(flowId, 'one_more', 'x'))
})
