import { expect, test } from 'vitest'
import { formatWaitpointId } from '../../../../src/model/id.ts'
import { mintUuid } from '../../../../src/model/uuid.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { parked, stateOf } from './parked.ts'
import * as stored from '../../../support/stored.ts'

const forApproval = { kind: 'signal', waitpoint: 'door', name: 'approved' } as const

test('SIG-10 an operator approves without a token, in their own name', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine, forApproval)
  const { waitpointId } = doors['door']!
  const request = { waitpointId, name: 'approved', lane: 'default', idempotencySuffix: 'd1' }
  const answer = await engine.as({ actor: 'alice' }).signals.approve(request)
  expect(answer).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
  expect(
    await stored.signals.pick(sql, ['signal_category', 'source_type', 'source_identity', 'idempotency_key']),
  ).toEqual([
    {
      signal_category: 'approval',
      source_type: 'operator',
      source_identity: 'alice',
      idempotency_key: 'approval:approved:d1',
    },
  ])
  const { events } = await engine.events.timeline(executionId)
  expect(events.filter((event) => event.actor === 'alice').map((event) => event.kind)).toEqual(['signalled', 'resumed'])
  expect(await engine.signals.approve(request)).toEqual({ ...answer, kind: 'duplicate' })
})

test('SIG-11 another actor name is kept; another lane, an unknown waitpoint and a foreign one are refused', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine, forApproval)
  const request = { waitpointId: doors['door']!.waitpointId, name: 'rejected', idempotencySuffix: 'd1' }
  expect(await engine.signals.approve(request)).toMatchObject({ effect: 'appended_to_waitpoint' })
  expect(await stateOf(engine, executionId)).toBe('suspended')
  await withoutWriting(sql, async () => {
    const error = await refusal('invalid_input', engine.signals.approve({ ...request, lane: 'other' }))
    expect(error.message).toContain('lane_mismatch')
    const waitpointId = formatWaitpointId(7, mintUuid())
    await refusal('waitpoint_not_found', engine.signals.approve({ ...request, waitpointId }))
    await refusal('waitpoint_not_found', engine.as({ namespace: 'ours' }).signals.approve(request))
    await refusal('invalid_input', engine.signals.approve({ ...request, idempotencySuffix: '' }))
  })
})
