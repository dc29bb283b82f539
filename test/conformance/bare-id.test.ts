// Every kind of id, passed as the bare uuid: the row is found, and the answer has the full id.
import { expect, test } from 'vitest'
import { parseExecutionId } from '../../src/index.ts'
import { fenceOf, take } from '../engine/execution/holder.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { bareEngine, bareOf } from './bare-engine.ts'
import { graph } from './flow-checks.ts'

test('an execution is found by its bare uuid, whatever determined its partition', async () => {
  const { engine } = await setup()
  const bare = bareEngine(engine).engine
  // The key decides its partition, so the uuid alone does not determine it.
  const { executionId } = await engine.executions.create({ kind: 'k', idempotencyKey: 'order-1', tags: { a: 'b' } })
  expect(await bare.executions.describe(executionId)).toMatchObject({ executionId })
  expect(await engine.executions.describe(bareOf(executionId).toUpperCase())).toMatchObject({ executionId })
  expect(await bare.executions.getTag(executionId, 'a')).toBe('b')
  const child = await bare.executions.create({ kind: 'k', parentId: executionId })
  expect((await bare.executions.list({ parentId: executionId })).executions).toMatchObject([
    { executionId: child.executionId, parentId: executionId },
  ])
  const fence = fenceOf(await take(engine))
  const done = await bare.executions.completeMany([
    fence,
    { ...fence, executionId: '0190a000-0000-7000-8000-00000000000a' },
  ])
  expect(done).toMatchObject([
    { executionId: fence.executionId },
    {
      kind: 'refused',
      error: { code: 'execution_not_found', details: { executionId: '0190a000-0000-7000-8000-00000000000a' } },
    },
  ])
  expect(await bare.executions.cancel({ executionId: child.executionId })).toMatchObject({
    executionId: child.executionId,
  })
})

test('a full id with another partition than the row is not found, also when the bare uuid is', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const { partition, uuid } = parseExecutionId(executionId)
  expect(await engine.executions.describe(`{fp:${(partition! + 1) % 256}}:${uuid}`)).toBeNull()
  expect(await engine.executions.describe(uuid)).toMatchObject({ executionId })
})

test('flows, members and waitpoints are found by bare uuids', async () => {
  const { engine } = await setup()
  const bare = bareEngine(engine).engine
  const { flowId, members } = await engine.flows.submitGraph(graph)
  expect(await bare.flows.describe(flowId)).toMatchObject({ flowId })
  expect((await bare.flows.edges(flowId, { from: members['first']! })).edges).toHaveLength(1)
  const added = await bare.flows.addMember({
    flowId,
    execution: { kind: 'k', lane: 'later' },
    after: [{ upstream: members['second']! }],
  })
  expect(added).toMatchObject({ flowId })
  expect(await bare.flows.cancel({ flowId })).toMatchObject({ flowId })

  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'waits', idempotencyKey: 'w' })
  const fence = fenceOf(await take(engine, { lanes: ['waits'] }))
  const answer = await bare.executions.suspend({ ...fence, condition: { kind: 'signal', waitpoint: 'door' } })
  if (answer.kind !== 'suspended') return expect.unreachable(answer.kind)
  const { waitpointId, token } = answer.waitpoints[0]!
  expect(await bare.waitpoints.readToken(waitpointId)).toMatchObject({ waitpointId, token })
  const wrong = await refusal('invalid_token', bare.signals.deliver({ waitpointId, token: `${token!}x`, name: 'n' }))
  expect(JSON.stringify(wrong)).not.toContain(waitpointId)
  expect(await bare.signals.deliver({ waitpointId, token: token!, name: 'n' })).toMatchObject({ executionId })
})

test('the error for an unknown uuid has it as given', async () => {
  const { engine } = await setup()
  const uuid = '0190a000-0000-7000-8000-0000000000aa'
  const { message, details } = await refusal('execution_not_found', engine.executions.cancel({ executionId: uuid }))
  expect(message).toBe(`execution ${uuid} does not exist`)
  expect(details).toEqual({ executionId: uuid })
})

test('a condition names a child by its bare uuid', async () => {
  const { engine } = await setup()
  const { executionId: parentId } = await engine.executions.create({ kind: 'k' })
  const fence = fenceOf(await take(engine))
  const child = await engine.executions.create({ kind: 'k', lane: 'other', parentId })
  const condition = { kind: 'allOf', members: [{ kind: 'child', executionId: child.executionId }] } as const
  expect(await bareEngine(engine).engine.executions.suspend({ ...fence, condition })).toMatchObject({
    kind: 'suspended',
  })
  await engine.executions.cancel({ executionId: child.executionId })
  await expect.poll(async () => (await engine.executions.describe(parentId))?.publicState).toBe('resumable')
})

test('a new execution or flow is refused with a bare uuid, which has no partition', async () => {
  const { engine } = await setup()
  const uuid = '0190a000-0000-7000-8000-0000000000aa'
  const refusals = [
    await refusal('invalid_id', engine.executions.create({ executionId: uuid, kind: 'k', idempotencyKey: 'a' })),
    await refusal('invalid_id', engine.flows.create({ flowId: uuid, kind: 'k' })),
    await refusal('invalid_id', engine.flows.submitGraph({ ...graph, flowId: uuid })),
  ]
  for (const { message } of refusals) expect(message).toContain('N decides where the row is stored')
})
