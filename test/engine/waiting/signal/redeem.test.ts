import { expect, test } from 'vitest'
import { formatWaitpointId } from '../../../../src/model/id.ts'
import { mintUuid } from '../../../../src/model/uuid.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { linkTo } from './forge.ts'
import { parked, stateOf } from './parked.ts'
import * as stored from '../../../support/stored.ts'

const forApproval = { kind: 'signal', waitpoint: 'door', name: 'approved' } as const
const base = 'https://example.com/approvals?lang=en'

test('a link performs its action once: the first use resumes, the second is a repeat', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, forApproval)
  const link = await linkTo(engine, doors['door']!.waitpointId)
  const first = await engine.signals.redeem({ link })
  expect(first).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  expect(await engine.signals.redeem({ link })).toEqual({ ...first, kind: 'duplicate' })
  const { signals } = await engine.signals.list(executionId)
  expect(signals).toMatchObject([{ name: 'approved', category: 'approval', source: { type: 'link' } }])
})

test('of two links for two actions the first one used decides', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, { kind: 'signal', waitpoint: 'door' })
  const { waitpointId } = doors['door']!
  const [yes, no] = [await linkTo(engine, waitpointId), await linkTo(engine, waitpointId, 'rejected')]
  await engine.signals.redeem({ link: no })
  await refusal('waitpoint_closed', engine.signals.redeem({ link: yes }))
  expect((await engine.signals.list(executionId)).signals.map((signal) => signal.name)).toEqual([
    'rejected',
    'approved',
  ])
})

test('a link that was changed or shortened or has expired is refused, and reveals nothing', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId, doors } = await parked(engine, forApproval)
  const link = await linkTo(engine, doors['door']!.waitpointId)
  const swap = (at: number) => link.slice(0, at) + (link[at] === 'A' ? 'B' : 'A') + link.slice(at + 1)
  await withoutWriting(sql, async () => {
    const messages = new Set<string>()
    for (const wrong of [...Array.from(link, (_, at) => swap(at)), link.slice(1), link.slice(0, -1), '', 7 as never]) {
      messages.add((await refusal('invalid_token', engine.signals.redeem({ link: wrong }))).message)
    }
    expect(messages.size).toBe(1)
  })
  await clock.advance('2h')
  await refusal('invalid_token', engine.signals.redeem({ link }))
  expect(await stateOf(engine, executionId)).toBe('suspended')
})

test('a link holds as long as the key that signed it', async () => {
  const { engine, clock } = await setup()
  const { doors } = await parked(engine, forApproval)
  const link = await linkTo(engine, doors['door']!.waitpointId)
  await engine.signingKeys.rotate({ grace: 0 })
  await clock.advance(1)
  await refusal('invalid_token', engine.signals.redeem({ link }))
})

test('creating a link keeps the base, returns the expiry, and writes an event without the link', async () => {
  const { engine, sql, clock } = await setup()
  const { doors, executionId } = await parked(engine, forApproval)
  const { waitpointId } = doors['door']!
  await clock.freeze()
  const made = await engine
    .as({ actor: 'alice' })
    .waitpoints.link({ waitpointId, base, action: 'yes', refusal: 'no', expiresIn: '1h' })
  expect(made.expiresAt).toBe((await clock.now()) + 3_600_000)
  expect(made.url.startsWith(`${base}&link=`)).toBe(true)
  const { events } = await engine.events.timeline(executionId)
  expect(events.at(-1)).toMatchObject({
    kind: 'token_read',
    actor: 'alice',
    details: { waitpointId, action: 'yes', refusal: 'no', expiresAt: made.expiresAt },
  })
  const link = new URL(made.url).searchParams.get('link')!
  expect(JSON.stringify(await stored.events.all(sql))).not.toContain(link)
})

test('a link is refused for a bad base, an unknown waitpoint, and one that is closed', async () => {
  const { engine, sql } = await setup()
  const { doors, executionId } = await parked(engine, forApproval)
  const request = { waitpointId: doors['door']!.waitpointId, base, action: 'approved', expiresIn: '1h' } as const
  const { link } = engine.waitpoints
  await withoutWriting(sql, async () => {
    for (const bad of ['', 'example.com', 'javascript:alert(1)', 7 as never])
      await refusal('invalid_input', link({ ...request, base: bad }))
    for (const action of ['', 'a\nb', 'x'.repeat(65)]) await refusal('invalid_input', link({ ...request, action }))
    await refusal('waitpoint_not_found', link({ ...request, waitpointId: formatWaitpointId(7, mintUuid()) }))
    await refusal('waitpoint_not_found', engine.as({ namespace: 'ours' }).waitpoints.link(request))
  })
  await engine.executions.cancel({ executionId })
  await refusal('waitpoint_closed', link(request))
})
