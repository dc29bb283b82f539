import { expect, inject, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { createDatabase } from '../support/database.ts'
import { waitingFor } from '../server/suspended.ts'
import { refusal } from '../support/refusal.ts'

const wrappingSecret = 'a secret of the operator'
const key = { kid: 'first', secret: 'ab'.repeat(32) }

async function emptyDatabase(): Promise<string> {
  const database = await createDatabase(inject('postgres').url)
  onTestFinished(() => database.drop())
  return database.url
}

test('the given key is the first one; later starts keep the stored keys', async () => {
  const url = await emptyDatabase()
  const first = await connect(url, { signing: { key, wrappingSecret } })
  expect(await first.engine.signingKeys.list()).toMatchObject([{ kid: 'first', isActive: true }])
  await first.engine.signingKeys.rotate({ kid: 'second', secret: 'cd'.repeat(32) })
  await first.close()
  const second = await connect(url, { signing: { key, wrappingSecret } })
  expect(await second.engine.signingKeys.list()).toMatchObject([{ kid: 'second', isActive: true }, { kid: 'first' }])
  await second.close()
  const error = await refusal(
    'wrong_wrapping_secret',
    connect(url, { signing: { wrappingSecret: 'another, as long as it' } }),
  )
  expect(JSON.stringify(error)).not.toContain('another')
})

test('without a given key the first token creates one, and later starts sign and verify with it', async () => {
  const url = await emptyDatabase()
  const first = await connect(url)
  const { waitpointId, token } = await waitingFor(first.engine, 'door')
  const keys = await first.engine.signingKeys.list()
  expect(keys).toMatchObject([{ namespace: null, kid: token.split(':')[0], isActive: true, expiresAt: null }])
  await first.close()
  const second = await connect(url)
  expect(await second.engine.signals.deliver({ waitpointId, token, name: 'yes' })).toMatchObject({ kind: 'accepted' })
  await waitingFor(second.engine, 'door', { priority: 1 })
  expect(await second.engine.signingKeys.list()).toEqual(keys)
  await second.close()
})

test('options that cannot be honoured are refused before anything is opened, without their secrets', async () => {
  const bad = (signing: unknown) => connect('memory:', { signing: signing as never })
  await refusal('invalid_input', bad({ secret: 'x' }))
  await refusal('invalid_input', bad(7))
  const short = await refusal('invalid_input', bad({ wrappingSecret: 'hunter2' }))
  expect(short.message).not.toContain('hunter2')
  await refusal('invalid_kid', bad({ key: { ...key, kid: 'a:b' } }))
  const odd = await refusal('invalid_secret_hex', bad({ key: { ...key, secret: 'abcd' } }))
  expect(odd.message).not.toContain('abcd')
})
