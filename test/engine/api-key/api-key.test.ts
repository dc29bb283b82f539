import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import * as stored from '../../support/stored.ts'

test('a key is returned once, stored as a hash, and recognized again', async () => {
  const { engine, sql } = await setup()
  const made = await engine
    .as({ actor: 'ops' })
    .apiKeys.create({ name: 'mailer', scopes: ['worker', 'read', 'read'], namespace: 'shop', requestsPerSecond: 50 })
  expect(made).toMatchObject({ kind: 'created', namespace: 'shop', name: 'mailer', scopes: ['read', 'worker'] })
  expect(made.key).toMatch(/^ff_[\da-f]{32}_[\w-]{43}$/)
  const written = JSON.stringify(await stored.apiKeys.all(sql))
  expect(written).not.toContain(made.key.slice(-43))
  expect(await engine.apiKeys.authenticate({ key: made.key })).toMatchObject({
    keyId: made.keyId,
    namespace: 'shop',
    name: 'mailer',
    scopes: ['read', 'worker'],
    requestsPerSecond: 50,
    createdBy: 'ops',
    revokedAt: null,
  })
})

test('a key that is wrong in any way is refused', async () => {
  const { engine } = await setup()
  const { key } = await engine.apiKeys.create({ name: 'a', scopes: ['admin'] })
  const { key: other } = await engine.apiKeys.create({ name: 'b', scopes: ['admin'] })
  const last = key.endsWith('A') ? 'B' : 'A'
  const mixed = `${key.slice(0, 35)}${other.slice(35)}`
  for (const wrong of ['', 'ff_', `${key.slice(0, -1)}${last}`, `${key} `, key.toUpperCase(), mixed, 7 as never]) {
    expect(await engine.apiKeys.authenticate({ key: wrong })).toBeNull()
  }
  expect(await engine.apiKeys.authenticate({ key })).toMatchObject({ name: 'a', namespace: null })
})

test('a revoked key is refused, and stays in the list with the time of its revocation', async () => {
  const { engine } = await setup()
  const { key, keyId } = await engine.apiKeys.create({ name: 'a', scopes: ['read'] })
  const revoked = await engine.apiKeys.revoke({ keyId })
  expect(revoked).toMatchObject({ kind: 'revoked', keyId })
  expect(await engine.apiKeys.revoke({ keyId })).toEqual({ ...revoked, kind: 'already_revoked' })
  expect(await engine.apiKeys.authenticate({ key })).toBeNull()
  const { apiKeys } = await engine.apiKeys.list()
  expect(apiKeys).toMatchObject([{ keyId, revokedAt: revoked.revokedAt }])
  await refusal('api_key_not_found', engine.apiKeys.revoke({ keyId: 'nobody' }))
})

test('the last use of a key is recorded once a minute', async () => {
  const { engine, clock } = await setup()
  const { key } = await engine.apiKeys.create({ name: 'a', scopes: ['read'] })
  const lastUsed = async () => (await engine.apiKeys.list()).apiKeys[0]!.lastUsedAt
  expect(await lastUsed()).toBeNull()
  await engine.apiKeys.authenticate({ key })
  const first = await lastUsed()
  expect(first).not.toBeNull()
  await engine.apiKeys.authenticate({ key })
  expect(await lastUsed()).toBe(first)
  await clock.advance('2m')
  await engine.apiKeys.authenticate({ key })
  expect(await lastUsed()).toBeGreaterThan(first!)
})

test('keys are listed in the order of their creation, in pages, and the log has their creation and revocation', async () => {
  const { engine, sql } = await setup()
  const names = ['a', 'b', 'c']
  for (const name of names) await engine.apiKeys.create({ name, scopes: ['read'] })
  const first = await engine.apiKeys.list({ limit: 2 })
  const second = await engine.apiKeys.list({ limit: 2, cursor: first.nextCursor! })
  expect([...first.apiKeys, ...second.apiKeys].map((key) => key.name)).toEqual(names)
  expect(second.nextCursor).toBeNull()
  await engine.apiKeys.revoke({ keyId: first.apiKeys[0]!.keyId })
  const events = await stored.events.all(sql)
  expect(events.map((row) => `${row.event_type} ${(row.details as { name: string }).name}`)).toEqual([
    'api_key_created a',
    'api_key_created b',
    'api_key_created c',
    'api_key_revoked a',
  ])
})

test('a key without a name, with an unknown scope or with none is refused', async () => {
  const { engine } = await setup()
  await refusal('invalid_input', engine.apiKeys.create({ name: '', scopes: ['read'] }))
  await refusal('invalid_input', engine.apiKeys.create({ name: 'a', scopes: [] }))
  const error = await refusal('invalid_input', engine.apiKeys.create({ name: 'a', scopes: ['reed' as 'read'] }))
  expect(error.message).toContain('did you mean read?')
  await refusal('invalid_input', engine.apiKeys.create({ name: 'a', scopes: ['read'], requestsPerSecond: 0 }))
})
