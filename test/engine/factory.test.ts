// The factory's own claim: it creates only states that the engine could have left. `setup` checks them against the
// invariants.
import { expect, test } from 'vitest'
import type { PublicState } from '../../src/model/state.ts'
import { factory, type Factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'

const publicStateOf: Readonly<Record<keyof Factory, PublicState>> = {
  waiting: 'waiting',
  delayed: 'delayed',
  retrying: 'delayed',
  interrupted: 'waiting',
  resumable: 'resumable',
  active: 'active',
  suspended: 'suspended',
  blocked: 'waiting_children',
  rateLimited: 'rate_limited',
  heldByOperator: 'waiting',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  skipped: 'skipped',
}

test('an execution can be made in every public state', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const [name, publicState] of Object.entries(publicStateOf)) {
    const id = await given[name as keyof Factory]()
    expect(await engine.executions.describe(id), name).toMatchObject({ executionId: id, publicState })
  }
})

test('a cancelled, expired or skipped execution may never have run', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = await Promise.all([
    given.cancelled({ neverRan: true }),
    given.expired({ neverRan: true }),
    given.skipped({ neverRan: true }),
  ])
  for (const id of ids) expect(await engine.executions.describe(id)).toMatchObject({ totalAttemptCount: 0 })
})
