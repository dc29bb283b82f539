// Every state as a sentence, word by word.
import { expect, test } from 'vitest'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { atNoon, flowId, later, noWorker, noon, now, past, sentenceOf, soon, type Given } from './explained.ts'
import { fenceOf, held } from './holder.ts'
import * as stored from '../../support/stored.ts'

type Case = readonly [what: string, make: (given: Given) => Promise<ExecutionId>, sentence: string]

const cases: readonly Case[] = [
  ['waiting', ({ given }) => given.waiting(), `Has been waiting for a worker since ${noon}: ${noWorker}.`],
  [
    'lapsed',
    async ({ given, sql }) => {
      const id = await given.interrupted()
      await stored.executions.change(sql, { consecutive_expiry_count: 2 })
      return id
    },
    `Lost its worker (2 times in a row) and has been waiting for another since ${noon}: ${noWorker}.`,
  ],
  [
    'revoked',
    async ({ engine }) => {
      const { executionId } = await held(engine)
      await engine.leases.revoke({ executionId })
      return executionId
    },
    `Its lease was revoked; it has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  [
    'released',
    async ({ engine }) => {
      const claim = await held(engine)
      await engine.executions.release(fenceOf(claim))
      return claim.executionId
    },
    `Was released by its worker and has been waiting for another since ${noon}: ${noWorker}.`,
  ],
  [
    'resumable',
    ({ given }) => given.resumable(),
    `Was resumed and has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  [
    'replayed',
    async ({ engine, given }) => {
      const executionId = await given.failed()
      await engine.executions.replay({ executionId })
      return executionId
    },
    `Was replayed and has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  [
    'retried at once',
    async ({ engine }) => {
      const retry = { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } as const
      const claim = await held(engine, { policy: { retry } })
      await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })
      return claim.executionId
    },
    `Failed; attempt 2 of 3 has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  ['delayed', ({ given }) => given.delayed({ until: soon }), `Is delayed until ${later}.`],
  [
    'delayed, and due while no process runs duties',
    ({ given }) => given.delayed({ until: now }),
    `Is delayed until ${noon}. That time has passed, but no process has run the background duties: start a worker or a server.`,
  ],
  [
    'backing off',
    async ({ engine }) => {
      const retry = { attempts: 5, backoff: { type: 'fixed', delayMs: 60_000 } } as const
      const claim = await held(engine, { policy: { retry } })
      await engine.executions.fail({ ...fenceOf(claim), reason: 'the bank did not answer' })
      return claim.executionId
    },
    `Failed (the bank did not answer); attempt 2 of 5 starts at ${later}.`,
  ],
  [
    'put off by its worker',
    async ({ engine }) => {
      const claim = await held(engine)
      await engine.executions.delay({ ...fenceOf(claim), for: '1m' })
      return claim.executionId
    },
    `Was delayed by its worker until ${later}.`,
  ],
  [
    'resumed with a delay',
    async ({ engine, given }) => {
      const executionId = await given.suspended()
      await engine.executions.resume({ executionId, delay: '1m' })
      return executionId
    },
    `Was resumed and continues at ${later}.`,
  ],
  [
    'active',
    ({ given }) => given.active({ expiresAt: soon }),
    `Has been running since ${noon} on worker worker-1; its lease is valid until ${later}.`,
  ],
  [
    'active, with progress',
    async ({ engine }) => {
      const claim = await held(engine)
      await engine.executions.progress({ ...fenceOf(claim), percent: 40, message: 'counting' })
      await engine.executions.renew({ workerInstanceId: 'w-1', leases: [fenceOf(claim)], leaseTtl: '1m' })
      return claim.executionId
    },
    `Has been running since ${noon} on worker w-1; its lease is valid until ${later}. Progress: 40 %, counting.`,
  ],
  [
    'active, its lease run out',
    ({ given }) => given.active({ expiresAt: past }),
    `Worker worker-1 stopped renewing its lease, which expired at 2026-05-01T11:59:00.000Z. That time has passed, but no process has run the background duties: start a worker or a server.`,
  ],
  [
    'with a stop request',
    async ({ engine, given }) => {
      const executionId = await given.active({ expiresAt: soon })
      const ops = engine.as({ actor: 'ops' })
      await ops.executions.cancel({ executionId, grace: '1m', reason: 'too slow' })
      return executionId
    },
    `Has been running since ${noon} on worker worker-1; its lease is valid until ${later}. It was asked to stop at ${noon} by ops (too slow); it ends at ${later} at the latest.`,
  ],
  [
    'suspended for a signal',
    ({ given }) => given.suspended({ since: now }),
    `Has been suspended since ${noon}, waiting for a signal at waitpoint 'answer'.`,
  ],
  [
    'suspended with a timeout',
    ({ given }) => given.suspended({ since: now, timeoutAt: soon, timeoutBehaviour: 'cancel' }),
    `Has been suspended since ${noon}, waiting for a signal at waitpoint 'answer'. The wait times out at ${later}; then it is cancelled.`,
  ],
  [
    'suspended for an operator',
    ({ given }) => given.suspended({ since: now, condition: { kind: 'operator' } }),
    `Has been suspended since ${noon}, waiting for an operator to resume it.`,
  ],
  [
    'suspended for one of two',
    ({ given }) =>
      given.suspended({
        since: now,
        wakeAt: soon,
        condition: {
          kind: 'anyOf',
          members: [
            { kind: 'signal', name: 'paid' },
            { kind: 'time', at: soon },
          ],
        },
      }),
    `Has been suspended since ${noon}, waiting for one of (a signal named 'paid', the time ${later}).`,
  ],
  [
    'waiting for its upstreams',
    ({ given }) => given.blocked({ since: now, flowId }),
    `Has been waiting for its dependencies in flow ${flowId} since ${noon}.`,
  ],
  [
    'held back by a quota',
    ({ given }) => given.rateLimited({ since: now }),
    `Has been blocked by a quota since ${noon}.`,
  ],
  [
    'held by an operator',
    ({ given }) => given.heldByOperator({ since: now }),
    `Has been held by an operator since ${noon}.`,
  ],
  [
    'quarantined',
    async ({ given, sql }) => {
      const id = await given.delayed({ until: soon })
      const aside = { duty: 'delayed-promoter', failure_count: 3, retry_at_ms: soon, error: 'bad row' }
      await stored.quarantine.add(sql, { ...aside, subject_id: parseExecutionId(id).uuid })
      return id
    },
    `Is delayed until ${later}. The duty delayed-promoter failed to process it (3 times: bad row) and retries at ${later}.`,
  ],
  ['completed', ({ given }) => given.completed({ endedAt: now }), `Completed at ${noon}.`],
  ['failed', ({ given }) => given.failed({ endedAt: now, reason: 'no money' }), `Failed at ${noon}: no money.`],
  [
    'cancelled',
    ({ given }) => given.cancelled({ endedAt: now, reason: 'Ada called', by: 'ops' }),
    `Was cancelled at ${noon} by ops: Ada called.`,
  ],
  ['expired', ({ given }) => given.expired({ endedAt: now, reason: 'deadline' }), `Expired at ${noon}: deadline.`],
  [
    'skipped',
    ({ given }) => given.skipped({ endedAt: now }),
    `Was skipped at ${noon}, because its dependencies cannot succeed.`,
  ],
]

test.each(cases)('%s', async (_, make, sentence) => {
  const fixture = await atNoon()
  const executionId = await make(fixture)
  expect(await sentenceOf(fixture.engine, executionId)).toBe(sentence)
})

/** States that the factory does not create. */
const changed: readonly (readonly [string, (given: Factory) => Promise<ExecutionId>, string, string])[] = [
  [
    'over its delay',
    (given) => given.interrupted(),
    "interruption = 'delayed'",
    `Its delay has ended; it has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  [
    'timed out and resumed',
    (given) => given.resumable(),
    "interruption = 'timed_out'",
    `Its wait timed out; it has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  [
    'woken by its children',
    (given) => given.resumable(),
    "interruption = 'children'",
    `Its children have ended; it has been waiting for a worker since ${noon}: ${noWorker}.`,
  ],
  [
    'held back by a budget',
    (given) => given.rateLimited({ since: now }),
    "eligibility_state = 'blocked_by_budget'",
    `Has been blocked by a spent budget since ${noon}.`,
  ],
]

test.each(changed)('%s', async (_, make, change, sentence) => {
  const { engine, sql, given } = await atNoon()
  const id = await make(given)
  await stored.executions.change(sql, change)
  expect(await sentenceOf(engine, id)).toBe(sentence)
})

test('a due duty runs within seconds; the sentence says when no process has run duties for long', async () => {
  const { engine, sql, clock, given } = await atNoon()
  const id = await given.delayed({ until: now })
  await stored.duties.add(sql, { duty: 'supervisor', last_run_at_ms: now })
  const start = `Is delayed until ${noon}. That time has passed`
  expect(await sentenceOf(engine, id)).toBe(`${start}; the background duty will run within seconds.`)
  await clock.advance('2m')
  expect(await sentenceOf(engine, id)).toBe(
    `${start}, but no process has run the background duties since ${noon}: start a worker or a server.`,
  )
})

test('explain of an unknown id is null, and an invalid id is refused', async () => {
  const { engine } = await setup()
  expect(await engine.executions.explain(flowId)).toBeNull()
  await refusal('invalid_id', engine.executions.explain('nonsense'))
})
