// The database's clock is set back while a supervisor runs.
import { expect, onTestFinished, test } from 'vitest'
import { checkHealth } from '../../../src/engine/health/check.ts'
import { Supervisor } from '../../../src/engine/duties/supervisor.ts'
import { around } from '../../../src/sql/around.ts'
import type { Logger } from '../../../src/sql/logger.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { codeVersion } from '../../../src/model/version.ts'
import { rows } from '../../support/raw.ts'
import { setup } from '../../support/setup.ts'
import * as stored from '../../support/stored.ts'
import { nowMs } from '../../support/changes.ts'

const until = { interval: 5 }
const minutes = 60_000

async function supervise(sql: Sql, lines: string[] = []): Promise<Supervisor> {
  const hear = (line: string): void => void lines.push(line)
  const logger: Logger = { debug: () => {}, info: hear, warn: hear, error: hear }
  const supervisor = new Supervisor(sql, { logger })
  onTestFinished(() => supervisor.stop())
  supervisor.start()
  await expect.poll(() => supervisor.reports.has('delayed-promoter'), until).toBe(true)
  return supervisor
}

async function stepOf(sql: Sql) {
  const { findings } = await checkHealth(sql, codeVersion)
  return findings.find((each) => each.check === 'clock steps')
}

test('a delay that is set after the step ends at its time, and the step is reported', async () => {
  const { engine, sql, clock } = await setup()
  const lines: string[] = []
  await supervise(sql, lines)
  expect(await stepOf(sql)).toMatchObject({ verdict: 'fine' })
  await clock.setBack('1h')
  const { executionId } = await engine.executions.create({ kind: 'k', delay: 300 })
  await expect.poll(async () => (await engine.executions.describe(executionId))?.publicState, until).toBe('waiting')
  expect(lines.filter((line) => line.includes('was set back by'))).toHaveLength(1)
  expect(await stepOf(sql)).toMatchObject({
    verdict: 'trouble',
    sentence: expect.stringContaining('set back by 60 min'),
  })
})

test('a process that starts after the step takes over from one that was killed before it', async () => {
  const { engine, sql, clock } = await setup()
  await (await supervise(sql)).stop()
  await stored.duties.change(sql, `taken_by = 'dead', taken_until_ms = ${nowMs} + 1500`)
  await clock.setBack('10m')
  expect(await stepOf(sql)).toMatchObject({ verdict: 'trouble' })
  const { executionId } = await engine.executions.create({ kind: 'k', delay: 50 })
  await supervise(sql)
  await expect.poll(async () => (await engine.executions.describe(executionId))?.publicState, until).toBe('waiting')
})

test('a lease lasts no longer than its ttl, and one that was renewed after the step keeps its time', async () => {
  const { engine, sql, clock } = await setup()
  await supervise(sql)
  await engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }])
  const claim = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], max: 2, leaseTtl: 5 * minutes }
  const { claims } = await engine.executions.claim(claim)
  expect(claims).toHaveLength(2)
  await clock.setBack('1h')
  const ends = stored.leases.selecting(`expires_at_ms - ${nowMs} as left_ms`)
  const longest = async () => Math.max(...(await rows(sql, ends)).map((row) => Number(row['left_ms'])))
  await expect.poll(longest, until).toBeLessThanOrEqual(5 * minutes)
  expect(await longest()).toBeGreaterThan(0)
  const { executionId, leaseId, leaseEpoch } = claims[0]!
  const leases = [{ executionId, leaseId, leaseEpoch }]
  const answer = await engine.executions.renew({ workerInstanceId: 'w-1', leases, leaseTtl: 5 * minutes })
  expect(answer.leases).toMatchObject([{ kind: 'renewed' }])
})

test('leases are shortened also when the connection is lost while the step is detected', async () => {
  const { engine, sql, clock } = await setup()
  let isLost = false
  const failing: Sql = {
    ...around(sql, (ask) => ask()),
    query: async (statement, values) => {
      if (isLost || statement.name !== 'duty.bound-leases') return sql.query(statement, values)
      isLost = true
      throw Object.assign(new Error('terminating connection'), { code: '57P01', severity: 'FATAL' })
    },
  }
  const lines: string[] = []
  await supervise(failing, lines)
  await engine.executions.create({ kind: 'k' })
  const claim = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], leaseTtl: 5 * minutes }
  expect((await engine.executions.claim(claim)).claims).toHaveLength(1)
  await clock.setBack('1h')
  await expect.poll(() => lines.filter((line) => line.includes('1 leases were shortened')), until).toHaveLength(1)
  expect(isLost).toBe(true)
})
