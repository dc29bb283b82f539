// Suspensions that are refused for their requests, before anything is written.
import { expect, test } from 'vitest'
import type { SuspendRequest } from '../../../src/engine/waiting/suspension/request.ts'
import type { Condition } from '../../../src/model/condition.ts'
import { mintExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { suspend, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held } from './holder.ts'

const anySignal: Condition = { kind: 'signal', waitpoint: 'answer' }

test.each<[string, Partial<SuspendRequest>, string]>([
  ['a key that is not bound', { waitpoints: [{ key: 'other' }] }, 'waitpoint_key_mismatch'],
  ['a timeout leaf without a timeout', { condition: { kind: 'timeout' } }, 'timeout_only_without_deadline'],
  ['a time that has passed', { timeoutAt: 1_600_000_000_000 }, 'timeout_at_in_past'],
  [
    'a binding that the condition does not name',
    { waitpoints: [{ key: 'answer' }, { key: 'other' }] },
    'extra_binding_not_referenced_by_condition',
  ],
  [
    'a leaf of a key that is not bound',
    { condition: { kind: 'allOf', members: [anySignal] }, waitpoints: [{ key: 'other' }] },
    'referenced_waitpoint_key_missing_binding',
  ],
])('SUSP-08 %s is refused, and nothing is written', async (_, request, why) => {
  const { engine, sql } = await setup()
  await waiting(engine)
  const claim = await held(engine)
  await withoutWriting(sql, async () => {
    const code = why === 'timeout_at_in_past' ? 'invalid_input' : 'invalid_condition'
    const asked = { ...fenceOf(claim), condition: anySignal, ...request }
    for (const ask of [engine.executions.suspend, engine.executions.trySuspend]) {
      const error = await refusal(code, ask(asked))
      expect(error).toMatchObject({ message: expect.stringContaining(why), details: { why } })
    }
  })
})

test('SUSP-08 any time that has passed is refused, and the next millisecond is not', async () => {
  const { engine, sql, clock } = await setup()
  await waiting(engine)
  const claim = await held(engine)
  await clock.freeze()
  const now = await clock.now()
  await withoutWriting(sql, async () => {
    for (const condition of [anySignal, { kind: 'signal', name: 'go' } as const]) {
      for (const timeoutAt of [now - 1, now]) {
        await refusal('invalid_input', suspend(engine, claim, { condition, timeoutAt }))
      }
    }
  })
  await suspend(engine, claim, { timeoutAt: now + 1 })
  expect(await engine.suspensions.describe(claim.executionId)).toMatchObject({ timeoutAt: now + 1 })
})

test.each<[string, Condition, string]>([
  ['allOf with no members', { kind: 'allOf', members: [] }, 'allof_empty_members at path <root>'],
  [
    'a count of nothing',
    { kind: 'count', n: 0, distinct: 'signals', waitpoints: ['a'] },
    'count_n_zero at path <root>',
  ],
  [
    'a count without waitpoints',
    { kind: 'allOf', members: [{ kind: 'count', n: 1, distinct: 'signals', waitpoints: [] }] },
    'count_waitpoints_empty at path members[0]',
  ],
  [
    'a count that its waitpoints cannot reach',
    { kind: 'count', n: 2, distinct: 'waitpoints', waitpoints: ['a'] },
    'count_exceeds_waitpoint_set at path <root>',
  ],
  ['a condition five deep', nested(5), 'depth 5 exceeds cap 4 at path members[0].members[0].members[0].members[0]'],
])('COMP-05 %s is refused, and nothing is written', async (_, condition, sentence) => {
  const { engine, sql } = await setup()
  await waiting(engine)
  const claim = await held(engine)
  const error = await withoutWriting(sql, () => refusal('invalid_condition', suspend(engine, claim, { condition })))
  expect(error.message).toContain(sentence)
})

test.each<[string, Record<string, unknown>]>([
  ['an unknown field', { wait: 1 }],
  ['two timeouts', { timeout: '1h', timeoutAt: 4_000_000_000_000 }],
  ['a behaviour without a timeout', { timeoutBehaviour: 'fail' }],
  ['an unknown behaviour', { timeout: '1h', timeoutBehaviour: 'retry' }],
  ['an escalation of what does not escalate', { timeout: '1h', escalation: { timeout: '1h', behaviour: 'fail' } }],
  [
    'an escalation that escalates',
    { timeout: '1h', timeoutBehaviour: 'escalate', escalation: { timeout: '1h', behaviour: 'escalate' } },
  ],
  ['waitpoints that are no array', { waitpoints: { key: 'answer' } }],
  ['a waitpoint with both', { waitpoints: [{ key: 'answer', waitpointId: mintExecutionId() }] }],
  ['a waitpoint with neither', { waitpoints: [{}] }],
  ['the same key twice', { waitpoints: [{ key: 'answer' }, { key: 'answer' }] }],
  ['an empty key of idempotency', { idempotencyKey: '' }],
])('a request with %s is refused', async (_, request) => {
  const { engine } = await setup()
  const claim = await held(engine)
  await refusal('invalid_input', suspend(engine, claim, request))
})

function nested(depth: number): Condition {
  return depth === 0 ? anySignal : { kind: 'allOf', members: [nested(depth - 1)] }
}
