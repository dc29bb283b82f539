import { expect, test } from 'vitest'
import { signingKeyExpiry } from '../../../src/engine/duties/signing-key-expiry.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

test('the secret of a key is wiped when its grace is over, not in its last millisecond; its id stays in use', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  await key(sql, 'old', now + 10)
  await key(sql, 'older', now + 5)
  await key(sql, 'current', null)
  await clock.advance(10)
  expect(await signingKeyExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await kept(sql)).toEqual(['current', 'old'])
  expect(await withoutWriting(sql, () => signingKeyExpiry.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await signingKeyExpiry.runOnce(sql)).toEqual({ processed: 1, errors: 0, isFull: false, effects: {} })
  expect(await kept(sql)).toEqual(['current'])
  expect(await stored.signingKeys.all(sql)).toHaveLength(3)
})

test('keys belong to the database: a run with a filter wipes all of them, up to its limit', async () => {
  const { sql } = await setup()
  await key(sql, 'one', 1)
  await key(sql, 'two', 2)
  await key(sql, 'three', 3)
  const filter = { namespace: 'elsewhere', tag: { key: 'a', value: 'b' } }
  expect(await signingKeyExpiry.runOnce(sql, { filter, batch: 2 })).toMatchObject({ processed: 2, isFull: true })
  expect(await kept(sql)).toEqual(['three'])
})

function key(sql: Sql, kid: string, expiresAt: number | null): Promise<void> {
  return stored.signingKeys.add(sql, {
    namespace: 'a',
    kid,
    created_at_ms: 0,
    expires_at_ms: expiresAt,
    is_active: expiresAt === null,
    is_wrapped: true,
    secret: '\\x00',
  })
}

async function kept(sql: Sql): Promise<unknown[]> {
  const found = await stored.signingKeys.pick(sql, ['kid'], { secret: stored.present }, 'kid')
  return found.map((row) => row['kid'])
}
