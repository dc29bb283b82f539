import { expect, test } from 'vitest'
import { mintExecutionId } from '../../../../src/model/id.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { bytes, parked } from './parked.ts'

test('SIG-04 signals are read back whole and in order, also after the resume', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const { waitpointId } = doors['door']!
  for (const name of ['a', 'b', 'ready']) {
    await engine.signals.deliver({
      ...doors['door']!,
      name,
      category: 'callback',
      sourceType: 'webhook',
      sourceIdentity: name,
      correlationId: `c-${name}`,
      payload: bytes({ name }),
    })
  }
  const { signals, nextCursor } = await engine.signals.list(executionId)
  expect(nextCursor).toBeNull()
  expect(signals).toEqual(
    ['a', 'b', 'ready'].map((name) => ({
      signalId: expect.any(String),
      executionId,
      name,
      category: 'callback',
      source: { type: 'token', identity: waitpointId },
      claimed: { type: 'webhook', identity: name },
      waitpointId,
      waitpointKey: 'door',
      correlationId: `c-${name}`,
      payload: bytes({ name }),
      payloadEncoding: 'json',
      effect: name === 'ready' ? 'resume_condition_satisfied' : 'appended_to_waitpoint',
      acceptedAt: expect.any(Number),
      takenAt: name === 'ready' ? expect.any(Number) : null,
    })),
  )
})

test('pages go through all of them once', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const names = Array.from({ length: 5 }, (_, index) => `s${index}`)
  for (const name of names) await engine.signals.deliver({ ...doors['door']!, name })
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await engine.signals.list(executionId, { limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    seen.push(...page.signals.map((signal) => signal.name))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(seen).toEqual(names)
})

test('an unknown or foreign execution has no signals in a list; a bad cursor is refused', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  await engine.signals.deliver({ ...doors['door']!, name: 'a' })
  const nothing = { signals: [], nextCursor: null }
  const { executionId: unsuspended } = await engine.executions.create({ kind: 'k' })
  expect(await engine.signals.list(unsuspended)).toEqual(nothing)
  expect(await engine.signals.list(mintExecutionId())).toEqual(nothing)
  expect(await engine.as({ namespace: 'ours' }).signals.list(executionId)).toEqual(nothing)
  expect(await engine.signals.list(executionId, { limit: 0 })).toEqual(nothing)
  await refusal('invalid_cursor', engine.signals.list(executionId, { cursor: 'x' }))
})
