// A sender without a right token waits for nothing and delays no other, whatever is locked.
import { expect, test } from 'vitest'
import { forgedLink, linkTo } from '../engine/waiting/signal/forge.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { secondEngine } from './second-engine.ts'
import { suspended } from './suspended.ts'
import * as stored from '../support/stored.ts'
import { lockingTables } from '../support/table.ts'

// Every statement that locks a row or writes waits for it; one that only reads does not.
const lockAll = lockingTables(stored.executions, stored.signals, stored.events)

test('a wrong token and a wrong link are refused at once, while no row can be locked or written', async () => {
  const { engine, url } = await setup()
  const [one, other] = await suspended(engine, 2)
  const { waitpointId, token } = one!
  const link = await linkTo(engine, waitpointId)
  const elsewhere = await secondEngine(url)
  const barrier = await hold(url, lockAll)
  for (const { signals } of [engine, elsewhere]) {
    await refusal('invalid_token', signals.deliver({ waitpointId, token: other!.token, name: 'yes' }))
    await refusal('invalid_token', signals.redeem({ link: forgedLink(link) }))
    await refusal('missing_token', signals.deliver({ waitpointId, token: '', name: 'yes' }))
  }
  const waiting = elsewhere.signals.deliver({ waitpointId, token, name: 'yes' })
  await barrier.waiters(1)
  await barrier.release()
  expect(await waiting).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('an endless stream of forged signals does not keep the right one from its execution', async () => {
  const { engine, url } = await setup()
  const forger = await secondEngine(url)
  const all = await suspended(engine, 50)
  for (const [index, { waitpointId, token }] of all.entries()) {
    const wrong = all[(index + 1) % all.length]!.token
    const forged = Array.from({ length: 20 }, () => ({ waitpointId, token: wrong, name: 'yes' }))
    const [refused, answer] = await Promise.all([
      forger.signals.deliverMany(forged),
      engine.signals.deliver({ waitpointId, token, name: 'yes' }),
    ])
    expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(['refused']))
    expect(answer).toMatchObject({ effect: 'resume_condition_satisfied' })
  }
})
