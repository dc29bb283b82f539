// Suspends and signals whose reply was lost: before anything was written, when the answer of what was read is lost, and after
// all was, when that of the commit is. Nobody hears of it; nothing is there twice.
import { expect, test } from 'vitest'
import { held, fenceOf, take } from '../engine/execution/holder.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { secondEngine } from './second-engine.ts'
import { answered, deliver, suspended } from './suspended.ts'
import { patience } from '../support/patience.ts'

const times = 25
// Now and then it is the reply to a hint that is lost, which travels the same way.
const mostly = times / 2

/** Part of it came before, so that the facts are read. */
const afterEarly = {
  kind: 'allOf',
  members: [{ kind: 'signal', name: 'early' }, answered],
} as const

test.each([
  ['a suspend', 'was committed at once', answered, 0],
  ['a suspend that is judged', 'was passed over', afterEarly, 0],
  ['a suspend that is judged', 'was read', afterEarly, 1],
  ['a suspend that is judged', 'was committed', afterEarly, 2],
] as const)(
  '%s: when the answer to what %s is lost, it is there once, and its token counts',
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
    const events = `select from flowfabric.ff_event where event_type = 'suspended'`
    expect(await rows(sql, events)).toHaveLength(times + 1)
    expect(await rows(sql, 'select from flowfabric.ff_waitpoint_pending')).toHaveLength(times + 1)
  },
  patience(60_000),
)

test('a suspend that is repeated with its key by who heard nothing answers with the same tokens', async () => {
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
  ['was read', 0],
  ['was committed', 1],
] as const)(
  'a signal that lost the answer to what %s is recorded once',
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
      expect(await rows(sql, 'select from flowfabric.ff_signal')).toHaveLength(round)
      await engine.executions.complete(fenceOf(await take(engine)))
    }
    expect(proxy.lostCount()).toBeGreaterThan(mostly)
  },
  patience(60_000),
)
