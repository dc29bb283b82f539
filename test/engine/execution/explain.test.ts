// Every state in a sentence, word by word.
import { expect, test } from 'vitest'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Factory } from '../../support/factory.ts'
import { insert } from '../../support/raw.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { atNoon, flowId, later, nobody, noon, now, past, sentenceOf, soon, type Given } from './explained.ts'
import { fenceOf, held } from './holder.ts'

type Case = readonly [what: string, make: (given: Given) => Promise<ExecutionId>, sentence: string]

const cases: readonly Case[] = [
  ['waiting', ({ given }) => given.waiting(), `Waits for a worker since ${noon}: ${nobody}.`],
  [
    'lapsed',
    async ({ given, sql }) => {
      const id = await given.interrupted()
      await sql.script('update flowfabric.ff_exec_core set consecutive_expiry_count = 2')
      return id
    },
    `Lost its worker (2 times in a row) and has been waiting for another since ${noon}: ${nobody}.`,
  ],
  [
    'revoked',
    async ({ engine }) => {
      const { executionId } = await held(engine)
      await engine.leases.revoke({ executionId })
      return executionId
    },
    `Was taken from its worker and waits for another since ${noon}: ${nobody}.`,
  ],
  [
    'released',
    async ({ engine }) => {
      const claim = await held(engine)
      await engine.executions.release(fenceOf(claim))
      return claim.executionId
    },
    `Was given back by its worker and waits for another since ${noon}: ${nobody}.`,
  ],
  [
    'resumable',
    ({ given }) => given.resumable(),
    `Has what it waited for and waits for a worker to go on since ${noon}: ${nobody}.`,
  ],
  [
    'replayed',
    async ({ engine, given }) => {
      const executionId = await given.failed()
      await engine.executions.replay({ executionId })
      return executionId
    },
    `Is to be run again and waits for a worker since ${noon}: ${nobody}.`,
  ],
  [
    'retried at once',
    async ({ engine }) => {
      const retry = { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } as const
      const claim = await held(engine, { policy: { retry } })
      await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })
      return claim.executionId
    },
    `Failed and waits for a worker for attempt 2 of 3 since ${noon}: ${nobody}.`,
  ],
  ['delayed', ({ given }) => given.delayed({ until: soon }), `Is not to start before ${later}.`],
  [
    'delayed, and due while nobody supervises',
    ({ given }) => given.delayed({ until: now }),
    `Is not to start before ${noon}. That is past, but nobody supervises this database: run ff.supervise() in a process.`,
  ],
  [
    'backing off',
    async ({ engine }) => {
      const retry = { attempts: 5, backoff: { type: 'fixed', delayMs: 60_000 } } as const
      const claim = await held(engine, { policy: { retry } })
      await engine.executions.fail({ ...fenceOf(claim), reason: 'the bank did not answer' })
      return claim.executionId
    },
    `Failed (the bank did not answer) and is tried again at ${later}, as attempt 2 of 5.`,
  ],
  [
    'put off by its worker',
    async ({ engine }) => {
      const claim = await held(engine)
      await engine.executions.delay({ ...fenceOf(claim), for: '1m' })
      return claim.executionId
    },
    `Was put off by its worker until ${later}.`,
  ],
  [
    'resumed with a delay',
    async ({ engine, given }) => {
      const executionId = await given.suspended()
      await engine.executions.resume({ executionId, delay: '1m' })
      return executionId
    },
    `Has what it waited for and goes on at ${later}.`,
  ],
  [
    'active',
    ({ given }) => given.active({ expiresAt: soon }),
    `Runs since ${noon} at worker worker-1, whose lease is good until ${later}.`,
  ],
  [
    'active, with progress',
    async ({ engine }) => {
      const claim = await held(engine)
      await engine.executions.progress({ ...fenceOf(claim), percent: 40, message: 'counting' })
      await engine.executions.renew({ workerInstanceId: 'w-1', leases: [fenceOf(claim)], leaseTtl: '1m' })
      return claim.executionId
    },
    `Runs since ${noon} at worker w-1, whose lease is good until ${later}. It says: 40 %, counting.`,
  ],
  [
    'active, its lease run out',
    ({ given }) => given.active({ expiresAt: past }),
    `Was held by worker worker-1, which fell silent: its lease ran out at 2026-05-01T11:59:00.000Z. That is past, but nobody supervises this database: run ff.supervise() in a process.`,
  ],
  [
    'asked to stop',
    async ({ engine, given }) => {
      const executionId = await given.active({ expiresAt: soon })
      const ops = engine.as({ actor: 'ops' })
      await ops.executions.cancel({ executionId, grace: '1m', reason: 'too slow' })
      return executionId
    },
    `Runs since ${noon} at worker worker-1, whose lease is good until ${later}. It was asked to stop at ${noon} by ops (too slow), and ends at ${later} at the latest.`,
  ],
  [
    'suspended for a signal',
    ({ given }) => given.suspended({ since: now }),
    `Is suspended since ${noon} and waits for a signal at waitpoint 'answer'.`,
  ],
  [
    'suspended with a timeout',
    ({ given }) => given.suspended({ since: now, timeoutAt: soon, timeoutBehaviour: 'cancel' }),
    `Is suspended since ${noon} and waits for a signal at waitpoint 'answer'. At ${later} it is cancelled.`,
  ],
  [
    'suspended for an operator',
    ({ given }) => given.suspended({ since: now, condition: { kind: 'operator' } }),
    `Is suspended since ${noon} and waits for an operator to resume it.`,
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
    `Is suspended since ${noon} and waits for one of (a signal named 'paid', the time ${later}).`,
  ],
  [
    'waiting for what it depends on',
    ({ given }) => given.blocked({ since: now, flowId }),
    `Waits for what it depends on in flow ${flowId} since ${noon}.`,
  ],
  ['held back by a quota', ({ given }) => given.rateLimited({ since: now }), `Is held back by a quota since ${noon}.`],
  ['held by an operator', ({ given }) => given.heldByOperator({ since: now }), `Is held by an operator since ${noon}.`],
  [
    'set aside',
    async ({ given, sql }) => {
      const id = await given.delayed({ until: soon })
      const aside = { duty: 'delayed-promoter', failure_count: 3, retry_at_ms: soon, error: 'bad row' }
      await insert(sql, 'ff_set_aside', { ...aside, subject_id: parseExecutionId(id).uuid })
      return id
    },
    `Is not to start before ${later}. delayed-promoter could not process it (3 times: bad row) and tries again at ${later}.`,
  ],
  ['completed', ({ given }) => given.completed({ endedAt: now }), `Completed at ${noon}.`],
  ['failed', ({ given }) => given.failed({ endedAt: now, reason: 'no money' }), `Failed at ${noon}: no money.`],
  [
    'cancelled',
    ({ given }) => given.cancelled({ endedAt: now, reason: 'Ada called', by: 'ops' }),
    `Was cancelled at ${noon} by ops: Ada called.`,
  ],
  [
    'expired',
    ({ given }) => given.expired({ endedAt: now, reason: 'deadline' }),
    `Ran out of time at ${noon}: deadline.`,
  ],
  [
    'skipped',
    ({ given }) => given.skipped({ endedAt: now }),
    `Was skipped at ${noon}, because what it depends on cannot succeed.`,
  ],
]

test.each(cases)('%s', async (_, make, sentence) => {
  const fixture = await atNoon()
  const executionId = await make(fixture)
  expect(await sentenceOf(fixture.engine, executionId)).toBe(sentence)
})

/** What the factory has no word for. */
const changed: readonly (readonly [string, (given: Factory) => Promise<ExecutionId>, string, string])[] = [
  [
    'over its delay',
    (given) => given.interrupted(),
    "interruption = 'delayed'",
    `Is over its delay and waits for a worker to go on since ${noon}: ${nobody}.`,
  ],
  [
    'timed out and resumed',
    (given) => given.resumable(),
    "interruption = 'timed_out'",
    `Has waited as long as it may and waits for a worker to go on since ${noon}: ${nobody}.`,
  ],
  [
    'woken by its children',
    (given) => given.resumable(),
    "interruption = 'children'",
    `Its children have ended, and it waits for a worker to go on since ${noon}: ${nobody}.`,
  ],
  [
    'held back by a budget',
    (given) => given.rateLimited({ since: now }),
    "eligibility_state = 'blocked_by_budget'",
    `Is held back, because a budget is spent, since ${noon}.`,
  ],
  [
    'blocked by its lane',
    (given) => given.heldByOperator({ since: now, lane: 'slow' }),
    "eligibility_state = 'blocked_by_lane_state'",
    `Waits, because its lane 'slow' takes no work, since ${noon}.`,
  ],
  [
    'blocked by its route',
    (given) => given.heldByOperator({ since: now }),
    "eligibility_state = 'blocked_by_route'",
    `Waits for a worker with what it needs since ${noon}.`,
  ],
]

test.each(changed)('%s', async (_, make, change, sentence) => {
  const { engine, sql, given } = await atNoon()
  const id = await make(given)
  await sql.script(`update flowfabric.ff_exec_core set ${change}`)
  expect(await sentenceOf(engine, id)).toBe(sentence)
})

test('what is due while somebody supervises happens in a moment; if nobody has for long, that is told', async () => {
  const { engine, sql, clock, given } = await atNoon()
  const id = await given.delayed({ until: now })
  await insert(sql, 'ff_duty', { duty: 'supervisor', last_run_at_ms: now })
  const start = `Is not to start before ${noon}. That is past,`
  expect(await sentenceOf(engine, id)).toBe(`${start} and whoever supervises acts in a moment.`)
  await clock.advance('2m')
  expect(await sentenceOf(engine, id)).toBe(
    `${start} but nobody supervises this database since ${noon}: run ff.supervise() in a process.`,
  )
})

test('what does not exist is null, and what is no id is refused', async () => {
  const { engine } = await setup()
  expect(await engine.executions.explain(flowId)).toBeNull()
  await refusal('invalid_id', engine.executions.explain('nonsense'))
})
