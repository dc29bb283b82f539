import { expect, test } from 'vitest'
import { createEngine } from '../../../../src/engine/engine.ts'
import { formatWaitpointId } from '../../../../src/model/id.ts'
import { mintUuid } from '../../../../src/model/uuid.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { fenceOf, held } from '../../execution/holder.ts'
import { parked } from '../signal/parked.ts'

test('WPT-14 a caller with the right can read the token, and every read writes an event', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const { waitpointId, token } = doors['door']!
  const read = await engine.as({ actor: 'alice' }).waitpoints.readToken(waitpointId)
  expect(read).toEqual({ waitpointId, waitpointKey: 'door', token })
  const { events } = await engine.events.timeline(executionId)
  expect(events.at(-1)).toMatchObject({ kind: 'token_read', actor: 'alice', details: { waitpointId } })
  expect(JSON.stringify(events)).not.toContain(token)
})

test('WPT-14 an unknown waitpoint and a foreign one have no token, and write no event', async () => {
  const { engine, sql } = await setup()
  const { doors } = await parked(engine)
  await withoutWriting(sql, async () => {
    expect(await engine.waitpoints.readToken(formatWaitpointId(7, mintUuid()))).toBeNull()
    expect(await engine.as({ namespace: 'ours' }).waitpoints.readToken(doors['door']!.waitpointId)).toBeNull()
  })
})

test('the token of a closed waitpoint, and one whose key is gone, are not returned', async () => {
  const { engine, clock } = await setup()
  const closed = await parked(engine)
  await engine.executions.cancel({ executionId: closed.executionId })
  await refusal('waitpoint_closed', engine.waitpoints.readToken(closed.doors['door']!.waitpointId))
  const { doors } = await parked(engine)
  await engine.signingKeys.rotate({ grace: 0 })
  await clock.advance('1s')
  await engine.signingKeys.rotate()
  await refusal('signing_key_not_found', engine.waitpoints.readToken(doors['door']!.waitpointId))
})

test('the token is returned up to the last millisecond of its key, also when no process has removed the key yet', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const { doors } = await parked(engine)
  const { waitpointId, token } = doors['door']!
  await engine.signingKeys.rotate({ grace: '10s' })
  await clock.advance('10s')
  expect(await engine.waitpoints.readToken(waitpointId)).toMatchObject({ token })
  await clock.advance(1)
  await withoutWriting(sql, () => refusal('signing_key_not_found', engine.waitpoints.readToken(waitpointId)))
})

test('an unused waitpoint has no token and no link after its expiry, whether or not the duty has run', async () => {
  const { engine, sql, clock } = await setup()
  const fence = fenceOf(await held(engine))
  const { waitpointId } = await engine.waitpoints.create({ ...fence, key: 'door', expiresIn: '10s' })
  const asked = { waitpointId, base: 'https://example.com', action: 'yes', expiresIn: '1h' } as const
  const link = new URL((await engine.waitpoints.link(asked)).url).searchParams.get('link')!
  expect(await engine.waitpoints.describeLink({ link })).toMatchObject({ state: 'open' })
  await clock.advance('10s')
  await withoutWriting(sql, async () => {
    await refusal('waitpoint_closed', engine.waitpoints.readToken(waitpointId))
    await refusal('waitpoint_closed', engine.waitpoints.link(asked))
  })
  expect(await engine.waitpoints.describeLink({ link })).toMatchObject({ state: 'closed' })
})

test('wrapped keys sign and verify like others, and only in processes that have the secret', async () => {
  const { sql } = await setup()
  const engine = createEngine(sql, { signing: { wrappingSecret: 'a secret of the operator' } })
  const { doors } = await parked(engine)
  const { waitpointId, token } = doors['door']!
  await refusal('wrong_wrapping_secret', createEngine(sql).waitpoints.readToken(waitpointId))
  await refusal('wrong_wrapping_secret', createEngine(sql).signals.deliver({ waitpointId, token, name: 'ready' }))
  expect(await engine.waitpoints.readToken(waitpointId)).toMatchObject({ token })
  expect(await engine.signals.deliver({ waitpointId, token, name: 'ready' })).toMatchObject({ kind: 'accepted' })
})
