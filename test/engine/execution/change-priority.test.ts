import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

test.each([
  [5000, 5000],
  [12_000, 9000],
  [-3, 0],
])(
  'OPS-06 a priority of %i is stored as %i, returned, and moves the execution in its queue',
  async (priority, used) => {
    const { engine, sql, clock } = await setup()
    const given = factory(sql)
    const executionId = await given.waiting({ priority: 100, createdAt: 2000 })
    const other = await given.waiting({ priority: 50, createdAt: 1000 })
    await clock.advance('1s')
    const answer = await engine.executions.changePriority({ executionId, priority })
    expect(answer).toEqual({ kind: 'priority_changed', executionId, from: 100, to: used })
    const described = await engine.executions.describe(executionId)
    expect(described).toMatchObject({ priority: used, publicState: 'waiting' })
    expect(described!.lastMutationAt).toBeGreaterThan(described!.createdAt)
    const events = await stored.events.pick(sql, ['details'], { event_type: 'priority_changed' })
    expect(events).toEqual([{ details: { from: 100, to: used } }])
    const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w', lanes: ['default'] })
    expect(claims[0]!.executionId).toBe(used > 50 ? executionId : other)
  },
)

test('CLAIM-30 an execution with a raised priority is claimed earlier', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const raised = await given.waiting({ priority: 0 })
  const other = await given.waiting({ priority: 5 })
  await engine.executions.changePriority({ executionId: raised, priority: 10 })
  const request = { workerId: 'w', workerInstanceId: 'w', lanes: ['default'], max: 2 }
  const { claims } = await engine.executions.claim(request)
  expect(claims.map((claim) => claim.executionId)).toEqual([raised, other])
})

test('OPS-07 the priority of an execution can be changed until it ends; that of an ended or unknown one cannot', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const alive = [await given.delayed(), await given.active(), await given.suspended(), await given.blocked()]
  for (const executionId of alive) {
    expect(await engine.executions.changePriority({ executionId, priority: 7 })).toMatchObject({ to: 7 })
  }
  const executionId = await given.completed()
  await withoutWriting(sql, () =>
    refusal('execution_terminal', engine.executions.changePriority({ executionId, priority: 7 })),
  )
  const unknown = '{fp:7}:01900000-0000-7000-8000-000000000000' as const
  await refusal('execution_not_found', engine.executions.changePriority({ executionId: unknown, priority: 7 }))
})

test('the same priority again changes nothing', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting({ priority: 7 })
  await withoutWriting(sql, () => engine.executions.changePriority({ executionId, priority: 7 }))
})
