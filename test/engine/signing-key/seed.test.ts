import { expect, test } from 'vitest'
import { SigningKeys } from '../../../src/engine/signing-key/keys.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

const first = { kid: 'kid-a', secret: '0123456789abcdef'.repeat(4) }

test('WPT-04 the first key is seeded once; another secret or another id changes nothing', async () => {
  const { engine, sql } = await setup()
  const { seed } = engine.signingKeys
  expect(await seed(first)).toEqual({ kind: 'seeded', namespace: null, kid: 'kid-a' })
  expect(await engine.signingKeys.list()).toMatchObject([{ kid: 'kid-a', isActive: true, expiresAt: null }])
  await withoutWriting(sql, async () => {
    const again = { kind: 'already_seeded', namespace: null, kid: 'kid-a' }
    expect(await seed(first)).toEqual({ ...again, hasSameSecret: true })
    expect(await seed({ ...first, secret: 'ff'.repeat(32) })).toEqual({ ...again, hasSameSecret: false })
    const error = await refusal('invalid_input', seed({ ...first, kid: 'kid-b' }))
    expect(error.message).toContain('rotate')
  })
})

test('WPT-05 a secret that is not 64 hex digits, and an empty id, are refused', async () => {
  const { engine, sql } = await setup()
  const { seed } = engine.signingKeys
  await withoutWriting(sql, async () => {
    for (const secret of ['', 'ab', 'ab'.repeat(31), 'ab'.repeat(33), 'zz'.repeat(32)]) {
      await refusal('invalid_secret_hex', seed({ ...first, secret }))
    }
    await refusal('invalid_kid', seed({ ...first, kid: '' }))
    await refusal('invalid_kid', seed({ ...first, kid: 'a:b' }))
  })
})

test('a namespace is seeded beside the shared key, not with its id', async () => {
  const { engine } = await setup()
  const tenant = engine.as({ namespace: 'tenant' })
  await engine.signingKeys.seed(first)
  await refusal('rotation_conflict', tenant.signingKeys.seed(first))
  expect(await tenant.signingKeys.seed({ ...first, kid: 'kid-t' })).toMatchObject({
    kind: 'seeded',
    namespace: 'tenant',
  })
})

test("the first shared key is not created with the id of a namespace's own key", async () => {
  const { engine, sql } = await setup()
  await engine.as({ namespace: 'tenant' }).signingKeys.seed(first)
  const keys = new SigningKeys(sql, { firstKey: { kid: first.kid, secret: Buffer.alloc(32, 7) } })
  await withoutWriting(sql, () => refusal('rotation_conflict', keys.ready()))
})
