// On a folder of its own: the test measures how large it grows.
import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { embeddedUpkeep } from '../../src/engine/duties/embedded-upkeep.ts'
import { retention } from '../../src/engine/duties/retention.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { Clock } from '../support/clock.ts'
import { migrateAll } from '../support/migrate-all.ts'
import { rows } from '../support/raw.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

const MiB = 1024 * 1024

async function sizeOf(directory: string): Promise<number> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true })
  const sizes = files.filter((file) => file.isFile()).map((file) => stat(path.join(file.parentPath, file.name)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

/** Two thousand executions are created, run and deleted, with 64 MB of payload in all. */
async function churn(sql: Sql, after: () => Promise<void>): Promise<void> {
  const { executions } = createEngine(sql)
  const clock = new Clock(sql)
  for (let round = 0; round < 20; round++) {
    const payload = () => ({ payload: randomBytes(32_000), payloadEncoding: 'raw' })
    await executions.createMany(Array.from({ length: 100 }, () => ({ kind: 'k', ...payload() })))
    const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
    const { claims } = await executions.claim({ ...worker, max: 100 })
    const fences = claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch }))
    await executions.completeMany(fences)
    await clock.advance('1m')
    expect(await retention(0).runOnce(sql)).toMatchObject({ processed: 100, errors: 0 })
    await after()
  }
}

async function sizeAfterChurn(after: (sql: Sql) => Promise<void>): Promise<number> {
  const directory = await makeFolder('flowfabric-upkeep-', { inMemory: true })
  onTestFinished(() => rm(directory, { recursive: true }))
  const sql = await openEmbedded({ directory, schema: 'flowfabric' })
  await migrateAll(sql)
  await churn(sql, () => after(sql))
  await sql.close()
  return sizeOf(directory)
}

test(
  'with its upkeep an embedded database stays small while thousands of executions go through',
  { timeout: patience(240_000) },
  async () => {
    const neglected = await sizeAfterChurn(async () => {})
    const kept = await sizeAfterChurn(async (sql) => {
      while ((await embeddedUpkeep.runOnce(sql)).isFull);
    })
    expect(neglected).toBeGreaterThan(150 * MiB)
    expect(kept).toBeLessThan(110 * MiB)
  },
)

test(
  'the upkeep vacuums tables with many dead rows, one a run, and no others',
  { timeout: patience(60_000) },
  async () => {
    const sql = await openEmbedded({ directory: null, schema: 'flowfabric' })
    await migrateAll(sql)
    expect(await embeddedUpkeep.runOnce(sql)).toEqual({ processed: 0, errors: 0, isFull: false, effects: {} })
    await sql.script(`
    create table public."Mine" (id int);
    insert into public."Mine" select generate_series(1, 3000);
    insert into ${stored.progress.qualified} select gen_random_uuid(), 0, 0, null from generate_series(1, 4000);
    insert into ${stored.lanes.qualified} select 'n', n::text, 'active', 0, 'test' from generate_series(1, 1000) n`)
    for (const table of ['public."Mine"', stored.progress.qualified, stored.lanes.qualified]) {
      await sql.script(`delete from ${table}`)
    }
    expect(await embeddedUpkeep.runOnce(sql)).toMatchObject({ processed: 1, isFull: true })
    expect(await embeddedUpkeep.runOnce(sql)).toMatchObject({ processed: 1, isFull: false })
    expect(await embeddedUpkeep.runOnce(sql)).toMatchObject({ processed: 0, isFull: false })
    const vacuumed = `select relname from pg_stat_user_tables where vacuum_count > 0 order by relname`
    expect(await rows(sql, vacuumed)).toEqual([{ relname: 'Mine' }, { relname: stored.progress.name }])
    await sql.close()
  },
)
