import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from './holder.ts'

async function ended(engine: Engine) {
  const claim = await held(engine)
  const step = { ...fenceOf(claim), kind: 'step' } as const
  await engine.steps.record({ ...step, name: 'a', state: 'succeeded', result: new Uint8Array([49]) })
  await engine.steps.record({ ...step, name: 'b', state: 'failed' })
  await engine.steps.record({ ...step, name: 'c', state: 'succeeded', result: new Uint8Array([50, 51]) })
  await engine.steps.record({ ...step, name: 'c', index: 1, state: 'succeeded' })
  await engine.steps.record({ ...step, name: 'd', state: 'succeeded' })
  await engine.executions.complete(fenceOf(claim))
  return claim.executionId
}

test('a replay from a step keeps the steps that succeeded before it, in their order', async () => {
  const { engine } = await setup()
  const executionId = await ended(engine)
  await engine.executions.replay({ executionId, from: { name: 'c', index: 1 } })
  const { steps } = await engine.steps.list(executionId)
  expect(steps.map(({ name, number, recordNumber }) => [name, number, recordNumber])).toEqual([
    ['a', 1, 1],
    ['c', 2, 3],
  ])
  const claim = await take(engine)
  await engine.steps.record({ ...fenceOf(claim), name: 'e', kind: 'step', state: 'succeeded' })
  expect((await engine.steps.list(executionId)).steps.at(-1)).toMatchObject({ name: 'e', number: 3, attemptIndex: 1 })
  await engine.executions.complete(fenceOf(claim))
})

test('a replay from the first step, or without a step, keeps nothing', async () => {
  const { engine } = await setup()
  const executionId = await ended(engine)
  await engine.executions.replay({ executionId, from: 'a' })
  expect((await engine.steps.list(executionId)).steps).toEqual([])
  await engine.executions.complete(fenceOf(await take(engine)))
  await engine.executions.replay({ executionId })
  expect((await engine.steps.list(executionId)).steps).toEqual([])
})

test('a replay from a step that was never recorded is refused, and nothing happens', async () => {
  const { engine } = await setup()
  const executionId = await ended(engine)
  const error = await refusal('step_not_found', engine.executions.replay({ executionId, from: 'x' }))
  expect(error.message).toContain('has no recorded step "x"')
  await refusal('step_not_found', engine.executions.replay({ executionId, from: { name: 'a', index: 1 } }))
  await refusal('invalid_input', engine.executions.replay({ executionId, from: '' }))
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'completed', generation: 0 })
})
