import { expect, test } from 'vitest'
import { pollDuties, registerDuties, termMs, type DutyCandidate } from '../../../src/engine/duties/poll-duties.ts'
import { workerExpiry } from '../../../src/engine/duties/worker-expiry.ts'
import { extendDuty, giveDutyBack, leaveDuty } from '../../../src/engine/duties/taken-duty.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'

const intervalMs = 10_000
const horizonMs = 1000
const report = { processed: 0, errors: 0 }
const [one, other] = ['one', 'other'].map((takenBy) => ({ filter: '', takenBy })) as [Poller, Poller]
type Poller = Parameters<typeof pollDuties>[1]

function candidate(duty: string, isHinted = false): DutyCandidate {
  return { duty, filter: '', intervalMs, isHinted }
}

const promoter = candidate('delayed-promoter')

/** The duty has run: from now on it is due only when a row is. */
async function ran(sql: Sql, duty: DutyCandidate): Promise<void> {
  await registerDuties(sql, one, [duty])
  const polled = await pollDuties(sql, one, [duty], horizonMs)
  expect(polled).toMatchObject({ kind: 'polled', taken: [duty.duty] })
  if (polled.kind === 'polled') await giveBack(sql, duty, polled)
}

async function giveBack(sql: Sql, { duty }: DutyCandidate, { at }: { at: number }): Promise<void> {
  await giveDutyBack(sql, { duty, filter: '', takenBy: one.takenBy }, at, intervalMs, report)
}

test('one process polls, and another takes over when the term of a killed one ends', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  await registerDuties(sql, one, [promoter])
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({
    kind: 'polled',
    taken: ['delayed-promoter'],
  })
  expect(await pollDuties(sql, other, [promoter], horizonMs)).toEqual({ kind: 'waits', ms: termMs })
  // The same process takes its duty again: the reply was lost, or it could not give the duty back.
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: ['delayed-promoter'] })
  await clock.advance(termMs)
  expect(await pollDuties(sql, other, [promoter], horizonMs)).toMatchObject({ taken: ['delayed-promoter'] })
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toEqual({ kind: 'waits', ms: termMs })
})

test('a duty that another process extends is free when that term ends, and the poll reports when', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  await registerDuties(sql, one, [promoter])
  await pollDuties(sql, one, [promoter], horizonMs)
  await clock.advance(1000)
  await extendDuty(sql, { duty: promoter.duty, filter: '', takenBy: one.takenBy })
  await clock.advance(500)
  expect(await pollDuties(sql, other, [promoter], horizonMs)).toMatchObject({ kind: 'polled', taken: [] })
  await clock.advance(1000)
  expect(await pollDuties(sql, other, [promoter], horizonMs)).toMatchObject({ taken: ['delayed-promoter'] })
})

test('a process that stops lets another poll at once', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  await ran(sql, promoter)
  await leaveDuty(sql, { duty: 'supervisor', filter: '', takenBy: one.takenBy })
  expect(await pollDuties(sql, other, [promoter], horizonMs)).toMatchObject({ kind: 'polled', taken: [] })
})

test('an idle poll takes nothing, and returns when the next row within the horizon is due', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const given = factory(sql)
  const now = await clock.now()
  await ran(sql, promoter)
  await clock.advance(intervalMs)
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: [], nextInMs: null })
  await given.delayed({ until: now + intervalMs + horizonMs + 1 })
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: [], nextInMs: null })
  await given.delayed({ until: now + intervalMs + 700 })
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: [], nextInMs: 700 })
  await clock.advance(700)
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: ['delayed-promoter'] })
})

test('a due row that a run left behind counts again after the interval, and a new one at once', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const given = factory(sql)
  const now = await clock.now()
  await given.delayed({ until: now - 1000 })
  await ran(sql, promoter)
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: [] })
  expect(await pollDuties(sql, one, [candidate(promoter.duty, true)], horizonMs)).toMatchObject({
    taken: ['delayed-promoter'],
  })
  await giveBack(sql, promoter, { at: now })
  await given.delayed({ until: now + 100 })
  await clock.advance(100)
  const polled = await pollDuties(sql, one, [promoter], horizonMs)
  expect(polled).toMatchObject({ taken: ['delayed-promoter'] })
  await clock.advance(900)
  await giveBack(sql, promoter, { at: now + 1000 })
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: [] })
  await clock.advance(intervalMs)
  expect(await pollDuties(sql, one, [promoter], horizonMs)).toMatchObject({ taken: ['delayed-promoter'] })
})

test('a duty that is not prompt waits for its interval, and then for a due row', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const expiry = candidate('worker-expiry')
  await ran(sql, expiry)
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], kinds: ['k'] }
  await engine.workers.register({ ...worker, ttl: 5000 })
  await clock.advance(5000)
  expect(await pollDuties(sql, one, [expiry], horizonMs)).toMatchObject({ taken: [] })
  await clock.advance(intervalMs - 5000)
  expect(await pollDuties(sql, one, [expiry], horizonMs)).toMatchObject({ taken: ['worker-expiry'] })
  await workerExpiry.runOnce(sql)
  await giveBack(sql, expiry, { at: await clock.now() })
  await clock.advance(intervalMs)
  expect(await pollDuties(sql, one, [expiry], horizonMs)).toMatchObject({ taken: [] })
})
