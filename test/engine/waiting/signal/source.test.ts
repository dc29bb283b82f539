// Conditions match and count the proved source of a sender; its claims are data.
import { expect, test } from 'vitest'
import type { Engine } from '../../../../src/engine/contract.ts'
import type { Condition } from '../../../../src/model/condition.ts'
import type { WaitpointId } from '../../../../src/model/id.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { take } from '../../execution/holder.ts'
import { linkTo } from './forge.ts'
import { parked, stateOf } from './parked.ts'

const twoEyes: Condition = { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['door'] }

async function redeemFor(engine: Engine, waitpointId: WaitpointId, person?: string): Promise<string> {
  const link = await linkTo(engine, waitpointId, 'approved', person)
  return (await engine.signals.redeem({ link })).effect
}

test('COMP-02 one token is one source, whatever identities its senders claim', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, twoEyes)
  const deliver = async (sourceIdentity: string, sourceType?: string) =>
    (
      await engine.signals.deliver({
        ...doors['door']!,
        name: 'yes',
        sourceIdentity,
        ...(sourceType && { sourceType }),
      })
    ).effect
  expect(await deliver('ada')).toBe('appended_to_waitpoint')
  expect(await deliver('grace')).toBe('appended_to_waitpoint_duplicate')
  expect(await deliver('ada', 'webhook')).toBe('appended_to_waitpoint_duplicate')
  expect(await stateOf(engine, executionId)).toBe('suspended')
})

test('the tokens of two waitpoints are two sources', async () => {
  const { engine } = await setup()
  const { doors } = await parked(engine, { ...twoEyes, waitpoints: ['a', 'b'] })
  const deliver = async (key: string) => (await engine.signals.deliver({ ...doors[key]!, name: 'yes' })).effect
  expect([await deliver('a'), await deliver('a'), await deliver('b')]).toEqual([
    'appended_to_waitpoint',
    'appended_to_waitpoint_duplicate',
    'resume_condition_satisfied',
  ])
})

test('links for one person are one source, in any spelling of the name, and links for two are two', async () => {
  const { engine } = await setup()
  const { doors } = await parked(engine, twoEyes)
  const { waitpointId } = doors['door']!
  expect(await redeemFor(engine, waitpointId, 'Ada Lovelace')).toBe('appended_to_waitpoint')
  expect(await redeemFor(engine, waitpointId, 'Ada Lovelace')).toBe('appended_to_waitpoint_duplicate')
  expect(await redeemFor(engine, waitpointId, 'ada  LOVELACE')).toBe('appended_to_waitpoint_duplicate')
  expect(await redeemFor(engine, waitpointId, 'Grace')).toBe('resume_condition_satisfied')
  const { resumption } = await take(engine)
  expect(resumption!.signals.map(({ source, claimed }) => [source, claimed])).toEqual([
    [{ type: 'link', identity: 'Ada Lovelace' }, null],
    [{ type: 'link', identity: 'Grace' }, null],
  ])
})

test('links without a name are one source', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, twoEyes)
  const { waitpointId } = doors['door']!
  expect(await redeemFor(engine, waitpointId)).toBe('appended_to_waitpoint')
  expect(await redeemFor(engine, waitpointId)).toBe('appended_to_waitpoint_duplicate')
  expect(await stateOf(engine, executionId)).toBe('suspended')
  expect(await redeemFor(engine, waitpointId, 'Ada')).toBe('resume_condition_satisfied')
})

test('in this process the actor is the source of an approval, whatever its suffix', async () => {
  const { engine } = await setup()
  const { doors } = await parked(engine, twoEyes)
  const { waitpointId } = doors['door']!
  const approve = async (actor: string, idempotencySuffix: string) =>
    (await engine.as({ actor }).signals.approve({ waitpointId, name: 'approved', idempotencySuffix })).effect
  expect(await approve('ada', '1')).toBe('appended_to_waitpoint')
  expect(await approve('ada', '2')).toBe('appended_to_waitpoint_duplicate')
  expect(await approve('grace', '3')).toBe('resume_condition_satisfied')
})

test('a condition matches the proved source and never a claim', async () => {
  const { engine } = await setup()
  const byAda: Condition = { kind: 'signal', waitpoint: 'door', source: { type: 'link', identity: 'ada' } }
  const { doors } = await parked(engine, byAda)
  const { waitpointId } = doors['door']!
  const claimed = await engine.signals.deliver({ ...doors['door']!, name: 'yes', sourceIdentity: 'ada' })
  expect(claimed.effect).toBe('appended_to_waitpoint')
  expect(await redeemFor(engine, waitpointId, 'grace')).toBe('appended_to_waitpoint')
  expect(await redeemFor(engine, waitpointId, 'ada')).toBe('resume_condition_satisfied')
})

const disguised = ['operator', ' Operator ', 'ope\u200brator', 'Ｌｉｎｋ', 'sys tem', 'TOKEN', 'caller\u00a0', 'key']

test.each(disguised)('a sender may not claim to be of the type %j, by a token or by name', async (sourceType) => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine)
  await withoutWriting(sql, async () => {
    const delivered = engine.signals.deliver({ ...doors['door']!, name: 'ready', sourceType })
    expect((await refusal('invalid_input', delivered)).details).toMatchObject({ field: 'sourceType' })
    const sent = engine.signals.send({ executionId, name: 'go', sourceType, sourceIdentity: 'root' })
    expect((await refusal('invalid_input', sent)).details).toMatchObject({ field: 'sourceType' })
  })
})

test('lists and events show the proved source and the claim, each as such', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const { waitpointId } = doors['door']!
  await engine.signals.deliver({ ...doors['door']!, name: 'other', sourceIdentity: 'ada' })
  await engine.signals.send({ executionId, name: 'go' })
  const { signals } = await engine.signals.list(executionId)
  expect(signals.map(({ source, claimed }) => [source, claimed])).toEqual([
    [
      { type: 'token', identity: waitpointId },
      { type: 'external', identity: 'ada' },
    ],
    [{ type: 'caller', identity: 'local' }, null],
  ])
  const { events } = await engine.events.timeline(executionId)
  const details = events.filter(({ kind }) => kind === 'signalled').map((event) => event.details)
  expect(details).toMatchObject([
    { sourceType: 'token', sourceIdentity: waitpointId, claimedType: 'external', claimedIdentity: 'ada' },
    { sourceType: 'caller', sourceIdentity: 'local' },
  ])
  expect(details[1]).not.toHaveProperty('claimedType')
})

test('the event of a link names the person whom it was issued for, and so does the link', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const link = await linkTo(engine, doors['door']!.waitpointId, 'approved', 'Ada')
  const { events } = await engine.events.timeline(executionId)
  expect(events.at(-1)).toMatchObject({ kind: 'token_read', details: { for: 'Ada' } })
  expect(await engine.waitpoints.describeLink({ link })).toMatchObject({ person: 'Ada' })
})
