import { expect, test } from 'vitest'
import { createEngine } from '../../../src/engine/engine.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'

const one = { kid: 'kid-a', secret: 'aa'.repeat(32) }
const two = { kid: 'kid-b', secret: 'bb'.repeat(32) }
const three = { kid: 'kid-c', secret: 'cc'.repeat(32) }

test('WPT-06 rotation makes the new key the only one that signs, and keeps the old one in grace', async () => {
  const { engine, clock } = await setup()
  await engine.signingKeys.seed(one)
  await clock.freeze()
  const now = await clock.now()
  expect(await engine.signingKeys.rotate({ ...two, grace: '1h' })).toEqual({
    kind: 'rotated',
    namespace: null,
    kid: 'kid-b',
    previousKid: 'kid-a',
    previousExpiresAt: now + 3_600_000,
    removedCount: 0,
  })
  const keys = await engine.signingKeys.list()
  expect(keys).toMatchObject([
    { kid: 'kid-b', isActive: true, expiresAt: null },
    { kid: 'kid-a', isActive: false, expiresAt: now + 3_600_000 },
  ])
  expect(JSON.stringify(keys)).not.toContain('secret')
})

test('WPT-07 the first rotation on an empty store replaces nothing', async () => {
  const { engine } = await setup()
  expect(await engine.signingKeys.rotate(one)).toMatchObject({
    kind: 'rotated',
    previousKid: null,
    previousExpiresAt: null,
  })
})

test('WPT-08 rotation refuses a bad id, secret and grace, and writes nothing', async () => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, async () => {
    const { rotate } = engine.signingKeys
    for (const kid of ['', 'a:b', 'é', 'k'.repeat(65), 7 as never]) {
      await refusal('invalid_kid', rotate({ ...one, kid }))
    }
    for (const secret of ['', 'abc', 'zz', 'ab'.repeat(513), 7 as never]) {
      const error = await refusal('invalid_secret_hex', rotate({ ...one, secret }))
      if (secret.length > 3) expect(error.message).not.toContain(secret)
    }
    for (const grace of [-1, 1.5, 'soon' as never, null as never]) {
      await refusal('invalid_grace_ms', rotate({ ...one, grace }))
    }
    await refusal('invalid_input', rotate({ kid: 'kid-a' }))
    await refusal('invalid_input', rotate({ secret: one.secret }))
    await refusal('invalid_input', rotate({ ...one, graceMs: 1 } as never))
  })
})

test('WPT-09 keys whose grace is over are not listed, and the next rotation removes them', async () => {
  const { engine, clock } = await setup()
  await engine.signingKeys.rotate(one)
  await engine.signingKeys.rotate({ ...two, grace: '1m' })
  await clock.advance('2m')
  expect((await engine.signingKeys.list()).map((key) => key.kid)).toEqual(['kid-b'])
  expect(await engine.signingKeys.rotate({ ...three, grace: '1m' })).toMatchObject({ removedCount: 1 })
  expect((await engine.signingKeys.list()).map((key) => key.kid)).toEqual(['kid-c', 'kid-b'])
})

test('a key verifies in the last millisecond of its grace and not after it', async () => {
  const { engine, clock } = await setup()
  await engine.signingKeys.rotate(one)
  await clock.freeze()
  await engine.signingKeys.rotate({ ...two, grace: 1000 })
  await clock.advance(1000)
  expect(await engine.signingKeys.list()).toHaveLength(2)
  await clock.advance(1)
  expect(await engine.signingKeys.list()).toHaveLength(1)
})

test('several keys are in grace at once, each until its own end', async () => {
  const { engine, clock } = await setup()
  await engine.signingKeys.rotate(one)
  await engine.signingKeys.rotate({ ...two, grace: '1h' })
  await engine.signingKeys.rotate({ ...three, grace: '1m' })
  expect(await engine.signingKeys.list()).toHaveLength(3)
  await clock.advance('2m')
  expect((await engine.signingKeys.list()).map((key) => key.kid)).toEqual(['kid-c', 'kid-a'])
})

test('rotating to the key that already signs changes nothing, unless its secret differs', async () => {
  const { engine, sql } = await setup()
  await engine.signingKeys.rotate(one)
  await withoutWriting(sql, async () => {
    expect(await engine.signingKeys.rotate(one)).toEqual({ kind: 'unchanged', namespace: null, kid: 'kid-a' })
    const error = await refusal('rotation_conflict', engine.signingKeys.rotate({ ...one, secret: two.secret }))
    expect(error.message).not.toContain(two.secret)
  })
})

test("a key's id is never used again: not in grace, not after it, not with the same secret", async () => {
  const { engine, clock } = await setup()
  await engine.signingKeys.rotate(one)
  await engine.signingKeys.rotate({ ...two, grace: '1m' })
  await refusal('rotation_conflict', engine.signingKeys.rotate(one))
  await clock.advance('2m')
  await engine.signingKeys.rotate(three)
  await refusal('rotation_conflict', engine.signingKeys.rotate(one))
  await refusal('rotation_conflict', engine.signingKeys.rotate({ ...one, secret: two.secret }))
})

test('without a given key, rotation creates a random one', async () => {
  const { engine, sql } = await setup()
  const first = await engine.signingKeys.rotate()
  const second = await engine.signingKeys.rotate({ grace: 0 })
  expect(first.kid).not.toBe(second.kid)
  const keys = await stored.signingKeys.all(sql)
  expect(keys.map((key) => key.secret!.length)).toEqual([32, 32])
})

test('a namespace has keys of its own beside the shared ones, and an id is never in both', async () => {
  const { engine } = await setup()
  const tenant = engine.as({ namespace: 'tenant', actor: 'alice' })
  await engine.signingKeys.rotate(one)
  expect(await tenant.signingKeys.rotate(two)).toMatchObject({ namespace: 'tenant', previousKid: null })
  expect(await tenant.signingKeys.list()).toMatchObject([
    { namespace: 'tenant', kid: 'kid-b', isActive: true },
    { namespace: null, kid: 'kid-a', isActive: true },
  ])
  expect(await engine.signingKeys.list()).toMatchObject([{ namespace: null, kid: 'kid-a' }])
  await refusal('rotation_conflict', tenant.signingKeys.rotate(one))
  await refusal('rotation_conflict', engine.signingKeys.rotate(two))
  await refusal('namespace_mismatch', tenant.signingKeys.rotate({ ...three, namespace: 'other' }))
  const other = await engine.signingKeys.rotate({ ...two, namespace: 'other' })
  expect(other).toMatchObject({ kind: 'rotated', namespace: 'other' })
})

test('every rotation writes an event that names the keys and no secret', async () => {
  const { engine, sql } = await setup()
  await engine.as({ actor: 'alice' }).signingKeys.rotate(one)
  await engine.as({ actor: 'bob' }).signingKeys.rotate(two)
  const events = await stored.events.pick(sql, ['actor', 'details'], { event_type: 'key_rotated' })
  expect(events).toEqual([
    { actor: 'alice', details: { kid: 'kid-a' } },
    { actor: 'bob', details: { kid: 'kid-b', previousKid: 'kid-a' } },
  ])
})

test('twenty rotations at once leave one key that signs and nineteen in grace', async () => {
  const { engine } = await setup()
  await Promise.all(Array.from({ length: 20 }, () => engine.signingKeys.rotate()))
  const keys = await engine.signingKeys.list()
  expect(keys).toHaveLength(20)
  expect(keys.filter((key) => key.isActive)).toHaveLength(1)
})

test('with a wrapping secret, the stored value is not the secret, and only the same wrapping secret reads it', async () => {
  const { sql } = await setup()
  const wrapped = createEngine(sql, { signing: { wrappingSecret: 'a secret of the operator' } })
  await wrapped.signingKeys.rotate(one)
  const [key] = await stored.signingKeys.pick(sql, ['is_wrapped', 'secret'])
  expect(key!.is_wrapped).toBe(true)
  expect(Buffer.from(key!.secret!).toString('hex')).not.toContain('aaaaaaaa')
  expect(await wrapped.signingKeys.rotate(one)).toMatchObject({ kind: 'unchanged' })
  for (const signing of [{}, { wrappingSecret: 'another secret of somebody' }]) {
    await refusal('wrong_wrapping_secret', createEngine(sql, { signing }).signingKeys.rotate(one))
  }
})

test('a process that cannot open the signing key is refused before anything is written, and the lease is kept', async () => {
  const { sql } = await setup()
  const ours = createEngine(sql, { signing: { wrappingSecret: 'a secret of ours' } })
  const theirs = createEngine(sql, { signing: { wrappingSecret: 'a secret of theirs' } })
  const condition = { kind: 'signal', waitpoint: 'door' } as const
  const claim = await held(ours, { namespace: 'acme' })
  const fence = fenceOf(claim)
  await ours.waitpoints.create({ ...fence, key: 'ahead' })
  await theirs.signingKeys.rotate({ namespace: 'acme' })
  await withoutWriting(sql, async () => {
    await refusal('wrong_wrapping_secret', ours.executions.suspend({ ...fence, condition }))
    await refusal('wrong_wrapping_secret', ours.executions.trySuspend({ ...fence, condition }))
    await refusal('wrong_wrapping_secret', ours.waitpoints.create({ ...fence, key: 'later' }))
    const [ahead] = (await ours.waitpoints.list(claim.executionId)).waitpoints
    const link = {
      waitpointId: ahead!.waitpointId,
      base: 'https://example.com',
      action: 'yes',
      expiresIn: '1h',
    } as const
    await refusal('wrong_wrapping_secret', ours.waitpoints.link(link))
  })
  expect(await ours.executions.complete(fence)).toMatchObject({ kind: 'completed' })
})
