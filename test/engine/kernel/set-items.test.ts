// Every call of the engine for many items has one limit, and counts before it reads.
import { expect, test } from 'vitest'
import { limits } from '../../../src/model/limits.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'

type Calls = Readonly<Record<string, Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>>>

/** A list of so many items; the test fails when one of them is read. */
function unreadable(length: number): unknown[] {
  return Array.from({ length }, () => new Proxy({}, { get: () => expect.unreachable('an item was read') }))
}

test('every operation for many refuses more than 500 items as a whole, before it reads one', async () => {
  const { engine } = await setup()
  const calls = Object.values(engine as unknown as Calls).flatMap((noun) =>
    Object.entries(noun).filter(([verb]) => verb.endsWith('Many')),
  )
  expect(calls.length).toBeGreaterThanOrEqual(12)
  for (const [, call] of calls) {
    const { message, details } = await refusal('too_many_items', call(unreadable(limits.setItems + 1)))
    expect(details).toEqual({ field: 'the requests', found: 501, limit: 500 })
    expect(message).toContain('send them in several calls')
  }
})

test('500 items are one call', async () => {
  const { engine } = await setup()
  const answers = await engine.executions.createMany(Array.from({ length: limits.setItems }, () => ({ kind: 'k' })))
  expect(answers.filter(({ kind }) => kind === 'created')).toHaveLength(500)
})

test('more leases than a worker can hold are refused before one is read', async () => {
  const { engine } = await setup()
  const leases = unreadable(limits.leaseCount + 1) as never[]
  await refusal('too_many_items', engine.executions.renew({ workerInstanceId: 'w', leases }))
  await refusal('too_many_items', engine.leases.check({ leases }))
})

test('an item that is refused carries no stack, and a call of one does', async () => {
  const { engine } = await setup()
  const [answer] = await engine.executions.createMany([{ kind: '' }])
  if (answer?.kind !== 'refused') return expect.unreachable()
  expect(answer.error.stack).not.toContain('\n    at ')
  const error = await refusal('invalid_input', engine.executions.create({ kind: '' }))
  expect(error.stack).toContain('\n    at ')
})
