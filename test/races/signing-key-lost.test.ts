// A change of keys whose reply was lost returns what it has done, also when others have changed them since.
import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'

const replies = Array.from({ length: 24 }, (_, round) => ({ round, after: round % 6 }))
const secret = 'ab'.repeat(32)

async function lossyEngine() {
  const fixture = await setup()
  const proxy = await startLossyProxy(fixture.url)
  return { ...fixture, proxy, lossy: await secondEngine(proxy.url) }
}

test('a rotation that lost any of its replies is one rotation, and reports the key it replaced', async () => {
  const { sql, proxy, lossy } = await lossyEngine()
  let previousKid = (await lossy.signingKeys.rotate()).kid
  for (const { round, after } of replies) {
    proxy.loseNextReply(after)
    const kid = `kid-${round}`
    const answer = await lossy.signingKeys.rotate({ kid, secret, grace: '1h' })
    proxy.loseNothing()
    expect(answer).toMatchObject({ kind: 'rotated', kid, previousKid, removedCount: 0 })
    previousKid = kid
  }
  // The number of packets of a reply varies; packets after the last one cannot be lost.
  expect(proxy.lostCount()).toBeGreaterThan(8)
  const events = await stored.events.all(sql, { event_type: 'key_rotated' })
  expect(events).toHaveLength(replies.length + 1)
})

test('a seed that lost any of its replies has seeded', async () => {
  const { engine, proxy, lossy } = await lossyEngine()
  await lossy.signingKeys.list()
  for (const { round, after } of replies) {
    const request = { namespace: `tenant-${round}`, kid: 'first', secret }
    proxy.loseNextReply(after)
    const answer = await lossy.signingKeys.seed(request)
    proxy.loseNothing()
    expect(answer).toEqual({ kind: 'seeded', namespace: request.namespace, kid: 'first' })
    expect(await engine.signingKeys.seed(request)).toMatchObject({ kind: 'already_seeded', hasSameSecret: true })
  }
  expect(proxy.lostCount()).toBeGreaterThan(8)
})
