// A waitpoint can be answered with its token, while the key that signed it verifies.
import { expect, test } from 'vitest'
import { createEngine } from '../../../../src/engine/engine.ts'
import { around } from '../../../../src/sql/around.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { fenceOf, held } from '../../execution/holder.ts'
import { forReady, parked, stateOf } from './parked.ts'

test('WPT-02 the right token is accepted; no token, a damaged one and one of an unknown key are refused', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine)
  const { waitpointId, token } = doors['door']!
  const deliver = (given: unknown) => engine.signals.deliver({ waitpointId, token: given as string, name: 'ready' })
  await withoutWriting(sql, async () => {
    for (const none of ['', undefined, null]) await refusal('missing_token', deliver(none))
    const damaged = Array.from(
      token,
      (letter, at) => token.slice(0, at) + (letter === '0' ? '1' : '0') + token.slice(at + 1),
    )
    const shortened = [token.slice(0, -1), token.slice(1), token.split(':')[0]!, token.split(':')[1]!, `${token}0`]
    for (const wrong of [
      ...damaged,
      ...shortened,
      `other:${token.split(':')[1]!}`,
      token.toUpperCase(),
      `\0${token}`,
      `\ud800${token}`,
      7,
      {},
    ]) {
      const error = await refusal('invalid_token', deliver(wrong))
      expect(JSON.stringify(error)).not.toContain(token.slice(-60))
    }
  })
  expect(await stateOf(engine, executionId)).toBe('suspended')
  expect(await deliver(token)).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('WPT-03 a token answers only its own waitpoint', async () => {
  const { engine, sql } = await setup()
  const one = await parked(engine, { kind: 'allOf', members: [forReady, { kind: 'signal', waitpoint: 'side' }] })
  const other = await parked(engine)
  await withoutWriting(sql, async () => {
    for (const { token } of [one.doors['side']!, other.doors['door']!]) {
      const { waitpointId } = one.doors['door']!
      await refusal('invalid_token', engine.signals.deliver({ waitpointId, token, name: 'ready' }))
    }
  })
})

test('a token stays valid over a rotation until the grace of its key is over, and not a millisecond longer', async () => {
  const { engine, clock } = await setup()
  const { doors } = await parked(engine)
  await clock.freeze()
  await engine.signingKeys.rotate({ grace: 1000 })
  const deliver = () => engine.signals.deliver({ ...doors['door']!, name: 'other' })
  await clock.advance(1000)
  expect(await deliver()).toMatchObject({ kind: 'accepted' })
  await clock.advance(1)
  await refusal('invalid_token', deliver())
})

test('a rotation without grace ends all older tokens at once; new ones carry the new key', async () => {
  const { engine, clock } = await setup()
  const { doors } = await parked(engine)
  const { kid } = await engine.signingKeys.rotate({ grace: 0 })
  await clock.advance(1)
  await refusal('invalid_token', engine.signals.deliver({ ...doors['door']!, name: 'ready' }))
  const next = await parked(engine)
  expect(next.doors['door']!.token.split(':')[0]).toBe(kid)
  expect(await engine.signals.deliver({ ...next.doors['door']!, name: 'ready' })).toMatchObject({ kind: 'accepted' })
})

test('a namespace with a key of its own signs with it, and its tokens are not those of the shared key', async () => {
  const { engine } = await setup()
  const tenant = engine.as({ namespace: 'tenant' })
  const before = await parked(tenant)
  const { kid } = await tenant.signingKeys.rotate()
  const after = await parked(tenant)
  expect(after.doors['door']!.token.split(':')[0]).toBe(kid)
  for (const { doors } of [before, after]) {
    expect(await engine.signals.deliver({ ...doors['door']!, name: 'ready' })).toMatchObject({ kind: 'accepted' })
  }
})

test('the database never receives a token or a link, so no table, no log and no error of it contains one', async () => {
  const { sql } = await setup()
  const sentValues: unknown[] = []
  const engine = createEngine({
    ...around(sql, (ask) => ask()),
    query(statement, values) {
      sentValues.push(values)
      return sql.query(statement, values)
    },
    pipeline(calls, options) {
      sentValues.push(calls.map(({ values }) => values))
      return sql.pipeline(calls, options)
    },
    decide(reads, decide, options) {
      sentValues.push(reads.map(({ values }) => values))
      const recorded: typeof decide = (found) => {
        const writes = decide(found)
        sentValues.push(writes.map(({ values }) => values))
        return writes
      }
      return sql.decide(reads, recorded, options)
    },
  })
  const fence = fenceOf(await held(engine))
  const ahead = await engine.waitpoints.create({ ...fence, key: 'ahead' })
  const { doors, executionId } = await parked(engine)
  const { waitpointId, token } = doors['door']!
  const asked = { waitpointId, base: 'https://example.com', action: 'other', expiresIn: '1h' } as const
  const link = new URL((await engine.waitpoints.link(asked)).url).searchParams.get('link')!
  await engine.waitpoints.readToken(waitpointId)
  await engine.waitpoints.list(executionId)
  await engine.waitpoints.describeLink({ link })
  await engine.signals.redeem({ link })
  await engine.signals.deliver({ waitpointId: ahead.waitpointId, token: ahead.token, name: 'early' })
  await refusal('invalid_token', engine.signals.deliver({ waitpointId, token: ahead.token, name: 'ready' }))
  await engine.signals.deliver({ waitpointId, token, name: 'ready' })
  await refusal('waitpoint_closed', engine.signals.deliver({ waitpointId, token, name: 'ready' }))
  const text = JSON.stringify(sentValues)
  expect(text).toContain('early')
  for (const secret of [token.split(':')[1]!, ahead.token.split(':')[1]!, link]) expect(text).not.toContain(secret)
})
