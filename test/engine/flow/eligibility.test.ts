import { expect, test } from 'vitest'
import { mintExecutionId } from '../../../src/model/id.ts'
import { setup } from '../../support/setup.ts'
import { fail, fenceOf, hold } from './worked.ts'

test('FLOW-34 an execution reports whether it is eligible, and what blocks it', async () => {
  const { engine, clock } = await setup()
  const { eligibility } = engine.flows
  expect(await eligibility(mintExecutionId())).toEqual({ kind: 'not_found' })

  const { executionId } = await engine.executions.create({ kind: 'alone' })
  expect(await eligibility(executionId)).toEqual({ kind: 'eligible' })
  await engine.executions.grant({ executionId, workerId: 'w', workerInstanceId: 'w-1', ttl: '1m' })
  expect(await eligibility(executionId)).toMatchObject({ kind: 'owned', workerInstanceId: 'w-1' })
  await clock.advance('2m')
  const held = await hold(engine, 'alone')
  expect(await eligibility(executionId)).toEqual({ kind: 'not_runnable', publicState: 'active' })
  await engine.executions.complete(fenceOf(held))
  expect(await eligibility(executionId)).toEqual({ kind: 'terminal', outcome: 'success' })

  const later = await engine.executions.create({ kind: 'later', delay: '1h' })
  expect(await eligibility(later.executionId)).toMatchObject({ kind: 'held', by: 'not_eligible_until_time' })
  await engine.executions.cancel({ executionId: later.executionId })
})

// No dispatch happens here, so endings that are not resolved yet can be seen.
test('FLOW-34 a member whose upstream has not ended is blocked, and impossible once that has failed', async () => {
  const { engine } = await setup({ dispatch: false })
  const { members } = await engine.flows.submitGraph({
    kind: 'k',
    members: ['a', 'b', 'all', 'any'].map((name) => ({ name, kind: name })),
    edges: ['all', 'any'].flatMap((downstream) => ['a', 'b'].map((upstream) => ({ upstream, downstream }))),
    groups: [{ downstream: 'any', policy: { kind: 'any_of' } }],
  })
  const kinds = async () => [
    (await engine.flows.eligibility(members['all']!)).kind,
    (await engine.flows.eligibility(members['any']!)).kind,
  ]
  expect(await kinds()).toEqual(['blocked_by_dependencies', 'blocked_by_dependencies'])
  await fail(engine, 'a')
  expect(await kinds()).toEqual(['impossible', 'blocked_by_dependencies'])
  expect(await engine.flows.eligibility(members['any']!)).toMatchObject({ group: { total: 2, running: 2 } })
  await fail(engine, 'b')
  expect(await kinds()).toEqual(['impossible', 'impossible'])
})
