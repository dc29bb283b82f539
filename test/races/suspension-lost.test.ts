// Suspends and signals whose reply was lost: before anything was written, when the reply to a read is lost, and after the
// commit, when its reply is lost. The client receives no answer, and nothing exists twice.
import { expect, test } from 'vitest'
import { held, fenceOf, take } from '../engine/execution/holder.ts'
import { setup } from '../support/setup.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { secondEngine } from './second-engine.ts'
import { answered, deliver, suspended } from './suspended.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

const times = 25
// Sometimes the lost reply is that to a hint, which travels the same way.
const mostly = times / 2

/** A part of the condition is already satisfied, so the suspend reads the facts. */
const afterEarly = {
  kind: 'allOf',
  members: [{ kind: 'signal', name: 'early' }, answered],
} as const

test.each([
  ['a suspend', 'commits at once', answered, 0],
  ['a suspend that decides', 'tried first', afterEarly, 0],
  ['a suspend that decides', 'reads', afterEarly, 1],
  ['a suspend that decides', 'commits', afterEarly, 2],
] as const)(
  '%s: when the answer to the statement that %s is lost, the suspension exists once, and its token counts',
  async (_, __, condition, after) => {
    const { engine, sql, url } = await setup()
    const proxy = await startLossyProxy(url)
    const lossy = await secondEngine(proxy.url)
    await suspended(lossy, 1)
    for (let round = 1; round <= times; round += 1) {
      const fence = fenceOf(await held(engine))
      if (condition === afterEarly) await engine.signals.send({ executionId: fence.executionId, name: 'early' })
      const idempotencyKey = round % 2 === 0 ? { idempotencyKey: `wait ${round}` } : {}
      proxy.loseNextReply(after)
      const answer = await lossy.executions.suspend({ ...fence, condition, ...idempotencyKey })
      proxy.loseNothing()
      if (answer.kind !== 'suspended') return expect.unreachable()
      expect(answer.waitpoints).toHaveLength(1)
      const { waitpointId, token } = answer.waitpoints[0]!
      expect(await deliver(engine, { waitpointId, token: token! })).toBe('resume_condition_satisfied')
      await engine.executions.complete(fenceOf(await take(engine)))
    }
    expect(proxy.lostCount()).toBeGreaterThan(mostly)
    expect(await stored.events.all(sql, { event_type: 'suspended' })).toHaveLength(times + 1)
    expect(await stored.waitpoints.all(sql)).toHaveLength(times + 1)
  },
  patience(60_000),
)

test('a suspend that is repeated with its key after a lost answer returns the same tokens', async () => {
  const { engine, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const fence = fenceOf(await held(engine))
    const request = { ...fence, condition: answered, idempotencyKey: 'the wait' }
    const [first, second] = await Promise.all([engine.executions.suspend(request), other.executions.suspend(request)])
    expect(second).toEqual(first)
    expect(await other.executions.suspend(request)).toEqual(first)
    await engine.executions.cancel({ executionId: fence.executionId })
  }
})

test.each([
  ['reads', 0],
  ['commits', 1],
] as const)(
  'a signal that lost the answer to the statement that %s is recorded once',
  async (_, after) => {
    const { engine, sql, url } = await setup()
    const proxy = await startLossyProxy(url)
    const lossy = await secondEngine(proxy.url)
    await engine.executions.cancel({ executionId: (await suspended(lossy, 1))[0]!.executionId })
    for (let round = 1; round <= times; round += 1) {
      const [waiting] = await suspended(engine, 1)
      proxy.loseNextReply(after)
      expect(await deliver(lossy, waiting!)).toBe('resume_condition_satisfied')
      proxy.loseNothing()
      expect(await stored.signals.all(sql)).toHaveLength(round)
      await engine.executions.complete(fenceOf(await take(engine)))
    }
    expect(proxy.lostCount()).toBeGreaterThan(mostly)
  },
  patience(60_000),
)
