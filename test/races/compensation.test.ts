// A cancel of an execution that has something to clean up, against everything else that may happen to it at the same moment.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { Claim } from '../../src/engine/execution/claim.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { setup } from '../support/setup.ts'
import { fenceOf, held, take } from '../engine/execution/holder.ts'
import { codeOf, meet } from './meeting.ts'
import { secondEngine } from './second-engine.ts'

const turns = [0, 1]

async function compensating(engine: Engine): Promise<Claim> {
  const claim = await held(engine)
  await engine.steps.record({ ...fenceOf(claim), name: 'undo', kind: 'compensation', state: 'pending', tryCount: 0 })
  return claim
}

async function suspended(engine: Engine): Promise<Claim['executionId']> {
  const claim = await compensating(engine)
  await engine.executions.suspend({ ...fenceOf(claim), condition: { kind: 'signal', name: 'go' } })
  return claim.executionId
}

/** Checks that the execution can be claimed for its cleanup, and ends as the request demanded. */
async function cleansUp(engine: Engine, executionId: Claim['executionId']): Promise<void> {
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId, reason: 'cancel' })
  await engine.steps.record({ ...fenceOf(claim), name: 'undo', kind: 'compensation', state: 'succeeded' })
  await engine.executions.cancel(fenceOf(claim))
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'finished',
  })
}

test.each(turns)('cancel against complete: it completes, with or without the request (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const claim = await compensating(engine)
  const { executionId } = claim
  const [completed, cancelled] = await meet(
    url,
    [() => codeOf(engine.executions.complete(fenceOf(claim))), () => codeOf(other.executions.cancel({ executionId }))],
    { first },
  )
  expect(completed).toBe('completed')
  expect(['cancel_requested', 'execution_not_cancellable']).toContain(cancelled)
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'completed',
    compensation: 'none',
  })
})

test.each(turns)('force against complete: one of them ends it (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const claim = await compensating(engine)
  const { executionId } = claim
  const answers = await meet(
    url,
    [
      () => codeOf(engine.executions.complete(fenceOf(claim))),
      () => codeOf(other.executions.cancel({ executionId, force: true })),
    ],
    { first },
  )
  const { publicState } = (await engine.executions.describe(executionId))!
  expect(answers).toEqual(
    publicState === 'completed' ? ['completed', 'execution_not_cancellable'] : ['execution_not_active', 'cancelled'],
  )
})

test.each(turns)('cancel against the registration of the first compensation (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const claim = await held(engine)
  const { executionId } = claim
  const registration = { name: 'undo', kind: 'compensation', state: 'pending', tryCount: 0 } as const
  const [registered, cancelled] = await meet(
    url,
    [
      () => codeOf(engine.steps.record({ ...fenceOf(claim), ...registration })),
      () => codeOf(other.executions.cancel({ executionId })),
    ],
    { first },
  )
  if (registered === 'step_recorded') expect(cancelled).toBe('cancel_requested')
  else expect([registered, cancelled]).toEqual(['execution_not_active', 'cancelled'])
})

test.each(turns)('cancel against a signal that resumes it: it cleans up (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const executionId = await suspended(engine)
  const [, cancelled] = await meet(
    url,
    [
      () => codeOf(engine.signals.send({ executionId, name: 'go' })),
      () => codeOf(other.executions.cancel({ executionId })),
    ],
    { first },
  )
  expect(cancelled).toBe('cancel_requested')
  await cleansUp(engine, executionId)
})

test.each(turns)('cancel against a suspend: it cleans up (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const claim = await compensating(engine)
  const { executionId } = claim
  const [, cancelled] = await meet(
    url,
    [
      () => codeOf(engine.executions.suspend({ ...fenceOf(claim), condition: { kind: 'signal', name: 'go' } })),
      () => codeOf(other.executions.cancel({ executionId })),
    ],
    { first },
  )
  expect(cancelled).toBe('cancel_requested')
  await cleansUp(engine, executionId)
})

test.each(turns)(
  'cancel against a restart: it cleans up, or the new generation ends at once (%i first)',
  async (first) => {
    const { engine, url } = await setup()
    const other = await secondEngine(url)
    const claim = await compensating(engine)
    const { executionId } = claim
    const [restarted, cancelled] = await meet(
      url,
      [() => codeOf(engine.executions.restart(fenceOf(claim))), () => codeOf(other.executions.cancel({ executionId }))],
      { first },
    )
    if (restarted === 'restarted') {
      expect(cancelled).toBe('cancelled')
      expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled', generation: 1 })
    } else {
      expect([restarted, cancelled]).toEqual(['cancelled', 'cancel_requested'])
      await cleansUp(engine, executionId)
    }
  },
)

test.each(turns)('cancel against the expiry of the lease: it cleans up (%i first)', async (first) => {
  const { engine, url, sql, clock } = await setup()
  const other = await secondEngine(url)
  const { executionId } = await compensating(engine)
  await clock.advance('2m')
  const [, cancelled] = await meet<unknown>(
    url,
    [() => leaseExpiry.runOnce(sql), () => codeOf(other.executions.cancel({ executionId }))],
    { first },
  )
  expect(cancelled).toBe('cancel_requested')
  await leaseExpiry.runOnce(sql)
  await cleansUp(engine, executionId)
})

test.each(turns)('two cancels make one request, and both return the earlier deadline (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const executionId = await suspended(engine)
  const answers = await meet(
    url,
    [
      () => engine.executions.cancel({ executionId, deadline: '1m' }),
      () => other.executions.cancel({ executionId, deadline: '1h' }),
    ],
    { first },
  )
  expect(answers.map(({ kind }) => kind)).toEqual(['cancel_requested', 'cancel_requested'])
  const again = await engine.executions.cancel({ executionId })
  expect(answers).toContainEqual(again)
  await cleansUp(engine, executionId)
})

test.each(turns)('cancel against force: it ends, and nothing claims it afterwards (%i first)', async (first) => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  const executionId = await suspended(engine)
  await meet(
    url,
    [
      () => codeOf(engine.executions.cancel({ executionId })),
      () => codeOf(other.executions.cancel({ executionId, force: true })),
    ],
    { first },
  )
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'unfinished',
  })
  const worker = { workerId: 'w', workerInstanceId: 'w', lanes: ['default'], leaseTtl: 60_000 }
  expect((await engine.executions.claim({ ...worker, max: 1 })).claims).toEqual([])
})
