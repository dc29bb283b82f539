// A worker that could never work does not start; one whose database or server is away for now does.
import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { serve } from '../../src/server/serve.ts'
import { task } from '../../src/worker/task.ts'
import { refusal } from '../support/refusal.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { emptyDatabase, open, run } from './empty-database.ts'
import { startOutageProxy } from './outage-proxy.ts'
import * as stored from '../support/stored.ts'

const noop = task('noop', () => 'done')
const options = { tasks: [noop], handleSignals: false } as const

const tooOld = stored.migrations.removing()
const tooNew = `insert into ${stored.migrations.qualified} (version, name, checksum, oldest_code, applied_at_ms)
  values (99, 'contract', '', '99.0.0', 0)`
const cases = [
  ['too old', tooOld, 'schema_outdated', 'lacks migration 1 (foundation)', 'Connect once with migrate: true'],
  ['too new', tooNew, 'code_too_old', 'needs flowfabric 99.0.0 or newer', 'Upgrade flowfabric to 99.0.0 or newer'],
] as const

test.each(cases)(
  'a schema that is %s refuses the start of a worker on Postgres',
  async (_, change, code, found, next) => {
    const url = await emptyDatabase()
    await open(url)
    await run(url, change)
    const ff = await open(url, { migrate: false })
    const error = await refusal(code, ff.worker(options).start())
    expect(error.message).toContain('the worker cannot start: ')
    expect(error.message).toContain(found)
    expect(error.message).toContain(next)
    expect(await ff.engine.workers.list()).toMatchObject({ workers: [] })
  },
)

test.each(cases)(
  'a schema that is %s refuses the start of an embedded worker',
  async (_, change, code, found, next) => {
    const directory = await makeFolder('start-refused-', { inMemory: true })
    onTestFinished(() => rm(directory, { recursive: true }))
    await (await open(`file:${directory}`)).close()
    const sql = await openEmbedded({ directory, schema: 'flowfabric' })
    await sql.script(change)
    await sql.close()
    const ff = await open(`file:${directory}`, { migrate: false })
    const error = await refusal(code, ff.worker(options).start())
    expect(error.message).toContain(found)
    expect(error.message).toContain(next)
  },
)

async function served(ff: FlowFabric): Promise<string> {
  const server = await serve({ ff, port: 0, keys: true, logger: false })
  onTestFinished(() => server.stop(0).then(() => {}))
  return server.url
}

test('a key that is invalid or lacks the scope refuses the start, and one with the scope does not', async () => {
  const database = await open(await emptyDatabase())
  const url = await served(database)
  const submits = await database.engine.apiKeys.create({ name: 'web', scopes: ['submit'] })
  const works = await database.engine.apiKeys.create({ name: 'work', scopes: ['worker'] })
  const refused = await refusal('forbidden', (await open(url, { token: submits.key })).worker(options).start())
  expect(refused.message).toContain('needs a key with the scope worker')
  expect(refused.message).toContain('Pass an API key with the scope worker as `token` to connect')
  const revoked = await database.engine.apiKeys.create({ name: 'old', scopes: ['worker'] })
  const stranger = await open(url, { token: revoked.key })
  await database.engine.apiKeys.revoke({ keyId: revoked.keyId })
  const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code
  await expect.poll(() => stranger.engine.workers.list().catch(codeOf)).toBe('unauthenticated')
  const unknown = await refusal('unauthenticated', stranger.worker(options).start())
  expect(unknown.message).toContain('Pass a valid API key as `token` to connect')
  const ff = await open(url, { token: works.key })
  const worker = ff.worker(options)
  await worker.start()
  const { executionId } = await database.engine.executions.create({ kind: 'noop' })
  expect(await database.engine.executions.result(executionId, { wait: '1m' })).toMatchObject({ kind: 'completed' })
})

test('a server whose database is too new refuses the start, and the error says what to do on the server', async () => {
  const address = await emptyDatabase()
  const database = await open(address)
  const url = await served(database)
  const { key } = await database.engine.apiKeys.create({ name: 'work', scopes: ['worker'] })
  const ff = await open(url, { token: key })
  await run(address, tooNew)
  const error = await refusal('code_too_old', ff.worker(options).start())
  expect(error.message).toContain('the worker cannot start: ')
  expect(error.message).toContain('Upgrade flowfabric on the server')
})

test('a start that was refused can be repeated, and a stop during a start leaves nothing running', async () => {
  const url = await emptyDatabase()
  await open(url)
  await run(url, tooNew)
  const ff = await open(url, { migrate: false, logger: false })
  const worker = ff.worker(options)
  await refusal('code_too_old', worker.start())
  await run(url, stored.migrations.removing({ version: 99 }))
  await worker.start()
  expect(await (await ff.submit(noop)).result()).toBe('done')
  await worker.stop()
  const other = ff.worker(options)
  const started = other.start()
  await other.stop()
  await started
  await refusal('engine_closed', other.start())
  expect(await ff.engine.workers.list()).toMatchObject({ workers: [] })
})

test('a worker starts while the database is away, and works when it is back', async () => {
  const proxy = await startOutageProxy(await emptyDatabase())
  const ff = await open(proxy.url, { logger: false })
  const worker = ff.worker(options)
  const away = proxy.takeAway()
  await Promise.all([worker.start(), away])
  proxy.giveBack()
  const submitted = async (): Promise<unknown> => (await ff.submit(noop)).result()
  await expect.poll(() => submitted().catch(() => 'away')).toBe('done')
})
