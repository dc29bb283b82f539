// A deploy has migrated the schema beyond the code of a process that still runs.
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../../src/server/app.ts'
import { task } from '../../../src/worker/task.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { Notes } from '../../sql/fixture.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { working } from '../../worker/working.ts'
import * as stored from '../../support/stored.ts'
import { laterMigration } from '../../support/changes.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

async function migrateBeyond(sql: Sql): Promise<void> {
  await stored.migrations.add(sql, laterMigration)
  onTestFinished(() => stored.migrations.remove(sql, { version: 99 }))
}

test('a claim is refused from the next heartbeat on, and the error names the version that the schema needs', async () => {
  const { engine, sql } = await setup()
  await engine.workers.register(worker)
  await engine.executions.create({ kind: 'k' })
  await migrateBeyond(sql)
  await engine.workers.heartbeat({ workerInstanceId: 'w-1' })
  const error = await refusal('code_too_old', engine.executions.claim(worker))
  expect(error.message).toContain('has migration 99 (contract), which needs flowfabric 99.0.0 or newer')
  expect(error.retryable).toBe(false)
})

test('a server is not ready, and its answer says why', async () => {
  const { engine, sql } = await setup()
  await migrateBeyond(sql)
  await refusal('code_too_old', engine.serverTime())
  const app = createApp(engine, { authenticate: null })
  const ready = await app.fetch(new Request('http://localhost/readyz'))
  expect({ status: ready.status, body: await ready.json() }).toEqual({ status: 503, body: { status: 'code_too_old' } })
})

test('a worker logs once that it claims no more, and leaves the work to others', async () => {
  const logger = new Notes()
  const noop = task('noop', async () => {})
  const { engine, sql, submit, worker } = await working([noop], { logger })
  await engine.workers.register({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  await worker.start()
  await migrateBeyond(sql)
  await engine.workers.heartbeat({ workerInstanceId: 'w-1' })
  await expect.poll(() => logger.warnings).toHaveLength(1)
  const run = await submit(noop)
  expect(logger.warnings[0]).toContain('the worker cannot claim work and retries: Schema flowfabric has migration 99')
  expect(await run.state()).toBe('waiting')
})
