import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { checkHealth, type HealthReport } from '../../../src/engine/health/check.ts'
import type { Finding } from '../../../src/engine/health/finding.ts'
import { repairHealth } from '../../../src/engine/health/repair.ts'
import { logBlocks } from '../../../src/engine/duties/log-blocks.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { Supervisor } from '../../../src/engine/duties/supervisor.ts'
import { parseExecutionId } from '../../../src/model/id.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { codeVersion } from '../../../src/model/version.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import * as stored from '../../support/stored.ts'
import { moveLog } from '../../support/event-log.ts'
import { fillReady } from '../../support/changes.ts'

const isEmbedded = inject('backend') === 'embedded'
// An open embedded database allows no second connection.
const bad = isEmbedded ? 'note' : 'trouble'

function of(report: HealthReport, check: string): Finding {
  return report.findings.find((each) => each.check === check)!
}

async function examined(sql: Sql, check: string): Promise<Finding> {
  return of(await checkHealth(sql, codeVersion), check)
}

/** Every duty has just run. */
async function supervised(sql: Sql): Promise<void> {
  const supervisor = new Supervisor(sql, {})
  supervisor.start()
  await expect
    .poll(async () => [
      (await stored.duties.all(sql, `last_report is null and duty <> 'supervisor'`)).length,
      await stored.duties.count(sql),
    ])
    .toEqual([0, isEmbedded ? 19 : 18])
  await supervisor.stop()
}

test('a healthy database has no trouble', async () => {
  const { sql } = await setup()
  await supervised(sql)
  const report = await checkHealth(sql, codeVersion)
  expect(report.findings.filter((each) => each.verdict !== 'fine')).toEqual([])
  expect(report.isHealthy).toBe(true)
})

test('duties that no process runs are named, and are trouble if they have work', async () => {
  const { sql, clock, engine } = await setup()
  expect(await examined(sql, 'duties')).toMatchObject({
    verdict: 'note',
    subjects: expect.arrayContaining(['lease-expiry']),
  })
  await engine.executions.create({ kind: 'k' })
  expect(await examined(sql, 'duties')).toMatchObject({ verdict: bad })
  await supervised(sql)
  await clock.advance('5m')
  expect(await examined(sql, 'duties')).toMatchObject({
    verdict: bad,
    subjects: expect.arrayContaining([expect.stringMatching(/^lease-expiry: (5 min|299 s)/)]),
  })
})

test('a log whose last block is nearly full without a next one is reported', async () => {
  const { sql } = await setup()
  await moveLog(sql, 7_500_000)
  expect(await examined(sql, 'event log')).toMatchObject({ verdict: 'fine' })
  await moveLog(sql, 7_500_001)
  expect(await examined(sql, 'event log')).toMatchObject({
    verdict: bad,
    sentence: expect.stringContaining('there is room for 2500000 more events'),
  })
  await logBlocks({ keptForMs: 1 }).runOnce(sql)
  expect(await examined(sql, 'event log')).toMatchObject({ verdict: 'fine' })
})

test('expired leases that were not reclaimed are reported, and the duty repairs them', async () => {
  const { sql, clock } = await setup()
  const id = await factory(sql).active({ expiresAt: (await clock.now()) + 1000 })
  expect(await examined(sql, 'leases')).toMatchObject({ verdict: 'fine' })
  await clock.advance('3m')
  expect(await examined(sql, 'leases')).toMatchObject({ verdict: bad, subjects: [expect.stringContaining(id)] })
  const repairs = await repairHealth(sql, codeVersion)
  expect(repairs.map((each) => each.sentence)).toContain('duty lease-expiry ran: 1 processed')
  expect(await examined(sql, 'leases')).toMatchObject({ verdict: 'fine' })
})

test('quarantined rows are reported with their error, and a repair tries them again', async () => {
  const { sql, clock } = await setup()
  const id = await factory(sql).active({ expiresAt: (await clock.now()) - 1000 })
  const { uuid } = parseExecutionId(id)
  const aside = { duty: leaseExpiry.name, subject_id: uuid, failure_count: 3, error: 'out of paper' }
  await stored.quarantine.add(sql, { ...aside, retry_at_ms: (await clock.now()) + 3_600_000 })
  expect(await examined(sql, 'set aside')).toMatchObject({
    verdict: 'trouble',
    subjects: [`lease-expiry, ${id}, 3 times: out of paper`],
  })
  expect(await repairHealth(sql, codeVersion)).toContainEqual({
    kind: 'retried',
    sentence: 'quarantined rows that are due for a retry: 1',
  })
  expect(await stored.quarantine.all(sql)).toEqual([])
})

test('queues without a matching worker are named', async () => {
  const { sql, engine } = await setup()
  await engine.executions.create({ kind: 'mail', lane: 'night', requiredCapabilities: ['gpu'] })
  expect(await examined(sql, 'workers')).toMatchObject({ verdict: bad, subjects: ['default, lane night, kind mail'] })
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['night'] }
  await engine.workers.register(worker)
  expect(await examined(sql, 'workers')).toMatchObject({ verdict: bad })
  await engine.workers.register({ ...worker, capabilities: ['gpu'] })
  expect(await examined(sql, 'workers')).toMatchObject({ verdict: 'fine' })
})

test('a stranded execution is reported, and a repair puts it back into its queue', async () => {
  const { sql, engine } = await setup()
  const id = await factory(sql).waiting()
  const resumable = await factory(sql).resumable()
  await stored.ready.remove(sql)
  const found = await examined(sql, 'stranded')
  expect(found.verdict).toBe('trouble')
  expect(found.subjects.map((subject) => subject.split(',')[0]).toSorted()).toEqual([id, resumable].toSorted())
  const repairs = await repairHealth(sql, codeVersion)
  expect(repairs.filter((each) => each.kind === 'requeued')).toHaveLength(2)
  expect(await examined(sql, 'stranded')).toMatchObject({ verdict: 'fine' })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w', lanes: ['default'], max: 5 })
  expect(claims.map((claim) => claim.executionId).toSorted()).toEqual([id, resumable].toSorted())
})

test('a deep check evaluates every invariant, and names the rows that break one', async () => {
  const { sql } = await setup()
  const id = await factory(sql).waiting()
  const putBack = await stored.ready.takeAway(sql)
  const looked: string[] = []
  const report = await checkHealth(sql, codeVersion, { deep: true, onLooked: (check) => looked.push(check) })
  expect(of(report, 'invariant stranded')).toMatchObject({
    verdict: 'trouble',
    sentence: 'Violated: no execution is stranded.',
    subjects: [expect.stringContaining(parseExecutionId(id).uuid)],
  })
  expect(looked).toContain('invariant orphans')
  expect(report.isHealthy).toBe(false)
  await putBack()
})

test('a missing or foreign schema is trouble, and nothing else is checked or repaired', async () => {
  const { sql } = await setup()
  const putBack = await stored.migrations.takeAway(sql)
  const lacking = await checkHealth(sql, codeVersion)
  expect(lacking.isHealthy).toBe(false)
  expect(of(lacking, 'schema')).toMatchObject({ verdict: 'trouble', next: 'Run flowfabric migrate.' })
  expect(of(lacking, 'duties')).toBeUndefined()
  expect(await repairHealth(sql, codeVersion)).toEqual([])
  await putBack()
  const tooOld = await checkHealth(sql, '0.0.1')
  expect(of(tooOld, 'schema').sentence).toContain('needs flowfabric')
})

test('bad options are refused', async () => {
  const { sql } = await setup()
  await refusal('invalid_input', checkHealth(sql, codeVersion, { timeout: 'soon' as never }))
  await refusal('invalid_input', checkHealth(sql, codeVersion, { timeout: 0 }))
  await refusal('invalid_input', checkHealth(sql, codeVersion, { depp: true } as never))
})

test.runIf(!isEmbedded)('a check changes nothing and waits for no lock', async () => {
  const { sql, url, engine } = await setup()
  await engine.executions.create({ kind: 'k' })
  const other = new pg.Client(url)
  await other.connect()
  onTestFinished(() => other.end())
  await other.query(`begin; ${stored.quarantine.lockingTable('access exclusive')}`)
  const report = await checkHealth(sql, codeVersion, { timeout: '300ms' })
  expect(of(report, 'set aside')).toMatchObject({ verdict: 'unknown' })
  expect(of(report, 'stranded')).toMatchObject({ verdict: 'fine' })
  await other.query('rollback')
})

test.runIf(!isEmbedded)('a schema that the role may not read is trouble', async () => {
  const { sql, url } = await setup()
  const role = `stranger_${randomUUID().slice(0, 8)}`
  await sql.script(`create role ${role} login`)
  const strange = await openPostgres({ url: url.replace(/\/\/[^@]+@/, `//${role}@`), schema: 'flowfabric' })
  onTestFinished(async () => {
    await strange.close()
    await sql.script(`drop role ${role}`)
  })
  const report = await checkHealth(strange, codeVersion)
  expect(report.isHealthy).toBe(false)
  expect(of(report, 'schema')).toMatchObject({
    verdict: 'trouble',
    sentence: expect.stringContaining('lacks the permission to read'),
  })
})

test.runIf(!isEmbedded)('an old transaction and dead rows are reported', async () => {
  const { sql, url, clock } = await setup()
  const other = new pg.Client({ connectionString: url, application_name: 'forgotten' })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query('begin; select 1')
  expect(await examined(sql, 'transactions')).toMatchObject({ verdict: 'fine' })
  await clock.advance('2m')
  const old = await examined(sql, 'transactions')
  expect(old).toMatchObject({
    verdict: 'note',
    subjects: [expect.stringMatching(/ forgotten, idle in transaction, 1\d\d s$|2 min$/)],
  })
  await clock.advance('20m')
  expect(await examined(sql, 'transactions')).toMatchObject({ verdict: 'trouble' })
  await fillReady(sql, 20_000)
  await stored.ready.remove(sql)
  await other.query('rollback')
  await sql.script('select pg_stat_force_next_flush()')
  await expect.poll(async () => (await examined(sql, 'bloat')).verdict).toBe('note')
  const repairs = await repairHealth(sql, codeVersion)
  expect(repairs).toContainEqual({ kind: 'vacuumed', sentence: `${stored.ready.name} was vacuumed` })
})
