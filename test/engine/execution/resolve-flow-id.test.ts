import { expect, test } from 'vitest'
import { formatExecutionId, mintExecutionId, parseExecutionId } from '../../../src/model/id.ts'
import type { FlowId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'

test('EXEC-31 the flow of a member is found; an execution without a flow and an unknown id have none', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const flowId: FlowId = '{fp:9}:0190a3c4-0000-7000-8000-000000000001'
  const member = await given.blocked({ flowId })
  expect(await engine.executions.resolveFlowId(member)).toBe(flowId)
  expect(await engine.executions.resolveFlowId(await given.waiting())).toBeNull()
  expect(await engine.executions.resolveFlowId(mintExecutionId())).toBeNull()
  expect(await engine.executions.resolveFlowId(formatExecutionId(10, parseExecutionId(member).uuid))).toBeNull()
})

test('a member that has ended still names its flow', async () => {
  const { engine, sql } = await setup()
  const member = await factory(sql).blocked()
  const flowId = await engine.executions.resolveFlowId(member)
  await engine.executions.cancel({ executionId: member })
  expect(flowId).not.toBeNull()
  expect(await engine.executions.resolveFlowId(member)).toBe(flowId)
})
