// A change of keys whose reply was lost, after other changes: it returns what it has done. The replies of real
// connections are lost in `races/signing-key-lost.test.ts`.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'

const one = { kid: 'kid-a', secret: 'aa'.repeat(32) }
const two = { kid: 'kid-b', secret: 'bb'.repeat(32) }

type When = 'before the commit' | 'after the commit'

/** An engine whose first transaction loses its reply; then other engines make their changes. */
function losingFirstReply(sql: Sql, when: When, meanwhile: () => Promise<unknown> = async () => {}): Engine {
  const lost = Object.assign(new Error('terminating connection'), { code: '57P01', severity: 'FATAL' })
  let isLost = false
  return createEngine({
    ...around(sql, (ask) => ask()),
    async transaction(work) {
      if (isLost) return sql.transaction(work)
      isLost = true
      const sent = sql.transaction(async (tx) => {
        const answer = await work(tx)
        if (when === 'before the commit') throw lost
        return answer
      })
      await sent.catch(() => {})
      await meanwhile()
      throw lost
    },
  })
}

test.each<When>(['before the commit', 'after the commit'])(
  'a rotation whose reply was lost %s has rotated, and reports which key it replaced and until when that verifies',
  async (when) => {
    const { engine, sql, clock } = await setup()
    await engine.signingKeys.rotate(one)
    await clock.freeze()
    expect(await losingFirstReply(sql, when).signingKeys.rotate({ ...two, grace: '1h' })).toEqual({
      kind: 'rotated',
      namespace: null,
      kid: 'kid-b',
      previousKid: 'kid-a',
      previousExpiresAt: (await clock.now()) + 3_600_000,
      removedCount: 0,
    })
    expect(await engine.signingKeys.list()).toHaveLength(2)
  },
)

test('a committed rotation whose reply was lost is no conflict, though another process has rotated since', async () => {
  const { engine, sql } = await setup()
  await engine.signingKeys.rotate(one)
  const operator = losingFirstReply(sql, 'after the commit', () => engine.signingKeys.rotate())
  expect(await operator.signingKeys.rotate(two)).toMatchObject({ kind: 'rotated', kid: 'kid-b', previousKid: 'kid-a' })
  await refusal('rotation_conflict', operator.signingKeys.rotate(two))
  expect(await engine.signingKeys.list()).toHaveLength(3)
})

test('a rotation that did not commit is a conflict when another process has used its id since', async () => {
  const { engine, sql } = await setup()
  const taken = () => engine.signingKeys.rotate({ ...two, secret: one.secret })
  const operator = losingFirstReply(sql, 'before the commit', taken)
  await refusal('rotation_conflict', operator.signingKeys.rotate(two))
})

test('a seed whose reply was lost returns seeded, though another process has rotated since; an existing key is already_seeded', async () => {
  const { engine, sql } = await setup()
  const seeding = losingFirstReply(sql, 'after the commit', () => engine.signingKeys.rotate(two))
  expect(await seeding.signingKeys.seed(one)).toEqual({ kind: 'seeded', namespace: null, kid: 'kid-a' })
  const repeating = losingFirstReply(sql, 'after the commit')
  expect(await repeating.signingKeys.seed(two)).toMatchObject({ kind: 'already_seeded', hasSameSecret: true })
  expect(await losingFirstReply(sql, 'after the commit').signingKeys.rotate(two)).toMatchObject({ kind: 'unchanged' })
})
