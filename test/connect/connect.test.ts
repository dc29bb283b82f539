import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import pg from 'pg'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { connect, type ConnectOptions } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { hold } from '../support/barrier.ts'
import { createDatabase } from '../support/database.ts'
import { startPostgres } from '../support/postgres.ts'
import { refusal } from '../support/refusal.ts'

async function emptyDatabase(): Promise<string> {
  const database = await createDatabase(inject('postgres').url)
  onTestFinished(() => database.drop())
  return database.url
}

async function open(url: string, options?: ConnectOptions): Promise<FlowFabric> {
  const ff = await connect(url, options)
  onTestFinished(() => ff.close())
  return ff
}

async function run(url: string, ...texts: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const results = []
    for (const text of texts) results.push(await client.query(text))
    return results
  } finally {
    await client.end()
  }
}

function as(url: string, username: string, password: string): string {
  const other = new URL(url)
  other.username = username
  other.password = password
  return other.href
}

test('connect makes the schema and gives an engine that works', async () => {
  const ff = await open(await emptyDatabase())
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  expect(await ff.engine.executions.describe(executionId)).toMatchObject({ kind: 'k' })
})

test.each([
  ['nonsense', /"nonsense".*postgres:\/\/.*file:.*memory:/],
  ['', /postgres:\/\//],
  ['mysql://user:secret@host/db', /mysql/],
  ['mysql:user:secret@host', /mysql:\*\*\*@host/],
  ['user:secret@host/db', /user:\*\*\*@host/],
  ['user:se:secret:cret@host/db', /user:\*\*\*@host/],
  ['//user:secret@host/db', /user:\*\*\*@host/],
  ['postgres:user:secret@host/db', /postgres:user:\*\*\*@host.*postgres:\/\//],
  ['postgres:/user:secret@host/db', /user:\*\*\*@host/],
  ['POSTGRES:user:secret@host/db', /user:\*\*\*@host/],
  ['postgres://user:se@secret@host:port/db', /user:\*\*\*@host/],
  ['postgres://user:se/secret@host/db', /user:\*\*\*@host/],
  ['postgres://host:port/db?password=secret', /password=\*\*\*/],
  ['host=h user=u password=secret', /password=\*\*\*/],
  ['memory:user:secret@host', /nothing after it/],
  ['file://user:secret@host/dir', /file:\/\/\//],
  ['memory:here', /nothing after it/],
  ['file:', /name a directory/],
  ['file:a\0b', /name a directory/],
  ['file://host/dir', /file:\/\/\//],
  ['postgres://host:port/x', /cannot be read/],
  ['postgres://h/x?prepare=maybe', /prepare must be true or false/],
  [undefined, /undefined.*postgres:\/\//],
  [7, /7.*postgres:\/\//],
])('a bad URL says what to write: %s', async (url, message) => {
  const error = await refusal('invalid_url', connect(url as string))
  expect(error.message).toMatch(message)
  // With its details and its cause.
  expect(inspect([error, error.details], { depth: 9 })).not.toContain('secret')
})

test('FAULT-02 a server that does not answer is unreachable, and the password is not told', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const error = await refusal('database_unreachable', connect(`postgres://someone:secret@127.0.0.1:${port}/x`))
  expect(error.retryable).toBe(true)
  expect(error.message).toMatch(/127\.0\.0\.1.*Check host and port/)
  expect(error.message).not.toContain('secret')
  expect(JSON.stringify(error)).not.toContain('secret')
})

test('a host that does not exist is unreachable', async () => {
  await refusal('database_unreachable', connect('postgres://host.invalid/x'))
})

test('a database that does not exist is told apart', async () => {
  const url = new URL(await emptyDatabase())
  url.pathname = '/no_such_database'
  const error = await refusal('database_not_found', connect(url.href))
  expect(error.message).toMatch(/no_such_database.*[Cc]reate the database/)
})

test('a wrong password is told apart, and not repeated in the message', async () => {
  const server = await startPostgres({ version: 18, settings: { hba_file: await passwordsNeeded() } })
  onTestFinished(() => server.stop())
  await run(server.url, `create role app login password 'right'`)
  const error = await refusal('database_auth_failed', connect(as(server.url, 'app', 'wrong-one')))
  expect(error.message).toMatch(/Check user and password/)
  expect(error.message).not.toContain('wrong-one')
  await refusal('database_auth_failed', connect(as(server.url, 'nobody_of_that_name', 'x')))
})

// Everyone but the superuser needs a password.
async function passwordsNeeded(): Promise<string> {
  const folder = await mkdtemp('/tmp/flowfabric-hba-')
  onTestFinished(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o755)
  const file = path.join(folder, 'pg_hba.conf')
  await writeFile(file, 'host all postgres all trust\nhost all all all scram-sha-256\n')
  return file
}

test('a role that may not create is told which grant it needs, and works with what is there', async () => {
  const url = await emptyDatabase()
  const role = `limited_${new URL(url).pathname.slice(-8)}`
  await run(url, `create role ${role} login password 'x'`)
  onTestFinished(async () => void (await run(url, `drop owned by ${role}`, `drop role ${role}`)))
  const error = await refusal('database_right_missing', connect(as(url, role, 'x')))
  expect(error.message).toMatch(new RegExp(`${role}.*grant create on database .* to ${role}`))
  expect((await run(url, `select from pg_namespace where nspname = 'flowfabric'`))[0]!.rowCount).toBe(0)

  await open(url)
  await run(
    url,
    `grant usage on schema flowfabric to ${role}`,
    `grant all on all tables in schema flowfabric to ${role}`,
    `grant all on all sequences in schema flowfabric to ${role}`,
  )
  const limited = await open(as(url, role, 'x'), { migrate: 'check' })
  const { executionId } = await limited.engine.executions.create({ kind: 'k' })
  expect(await limited.engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
})

test("migrate 'check' refuses an empty database and writes nothing; after a migration it starts", async () => {
  const url = await emptyDatabase()
  const error = await refusal('schema_missing', connect(url, { migrate: 'check' }))
  expect(error.message).toContain('migrate: true')
  expect((await run(url, `select from pg_namespace where nspname = 'flowfabric'`))[0]!.rowCount).toBe(0)
  await open(url)
  const checked = await open(url, { migrate: 'check' })
  expect(await checked.engine.executions.create({ kind: 'k' })).toMatchObject({ kind: 'created' })
})

test('migrate false does not look, and the first use tells that nothing is there', async () => {
  const url = await emptyDatabase()
  const ff = await open(url, { migrate: false })
  const error = await refusal('schema_missing', ff.engine.executions.create({ kind: 'k' }))
  expect(error.details).toMatchObject({ sqlState: '42P01' })
  expect((await run(url, `select from pg_namespace where nspname = 'flowfabric'`))[0]!.rowCount).toBe(0)
})

test.each(['Odd "name" with \'quotes\' and $1', 'flowfabric.ff', 'ünï', 'Flowfabric', 'select'])(
  'everything works in a schema named %s',
  async (schema) => {
    const url = await emptyDatabase()
    const { engine } = await open(url, { schema })
    const { executionId } = await engine.executions.create({ kind: 'k', tags: { a: 'b' }, idempotencyKey: 'x' })
    // The end of the log's first block, so that a table is made under the odd name too.
    await run(
      url,
      `select setval(format('%I.ff_event_id', nspname), 10000000) from pg_namespace where nspname = $$${schema}$$`,
    )
    expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
    expect((await engine.executions.list({ tag: { key: 'a', value: 'b' } })).executions).toHaveLength(1)
    expect((await engine.executions.countByState()).cancelled.count).toBe(1)
    const [made] = await run(
      url,
      `select distinct nspname from pg_class c join pg_namespace n on n.oid = relnamespace where relname like 'ff\\_%'`,
    )
    expect(made!.rows).toEqual([{ nspname: schema }])
  },
)

test('two schemas of one database are apart', async () => {
  const url = await emptyDatabase()
  const [a, b] = [await open(url, { schema: 'a' }), await open(url, { schema: 'b' })]
  await a.engine.executions.create({ kind: 'k' })
  expect((await b.engine.executions.list()).executions).toEqual([])
})

test.each([
  [{ schemas: 'a' }, /unknown field "schemas"; did you mean schema\?/],
  [{ pool_size: 4 }, /did you mean poolSize\?/],
  [{ quux: 1 }, /it may have migrate, schema/],
  [{ schema: '' }, /schema/],
  [{ schema: 'pg_mine' }, /reserved/],
  [{ schema: 'x'.repeat(64) }, /63 bytes/],
  [{ schema: 7 }, /schema is 7; it must be a text/],
  [{ schema: null }, /schema is null; it must be a text/],
  [{ migrate: 'Check' }, /migrate is "Check"/],
  [{ poolSize: 0 }, /poolSize is 0/],
  [{ poolSize: Number.NaN }, /poolSize is NaN/],
  [{ prepare: 'false' }, /prepare is "false"; it must be true or false/],
  [{ listenUrl: 7 }, /listenUrl is 7; it must be a postgres:\/\/ URL/],
  [{ listenUrl: 'user:secret@host' }, /listenUrl is "user:\*\*\*@host"/],
  [{ codec: {} }, /codec is without encode; it must be an object with the methods encode and decode/],
  [{ logger: null }, /logger is null; it must be an object with the methods/],
  [{ logger: console.log }, /logger is a function/],
  [{ logger: { ...console, warn: 'x' } }, /logger is without warn; it must be an object/],
])('a bad option is refused before anything is opened: %j', async (options, message) => {
  const error = await refusal('invalid_input', connect('postgres://127.0.0.1:1/x', options as ConnectOptions))
  expect(error.message).toMatch(message)
})

test.each([{ listenUrl: 'postgres://h/x' }, { prepare: true }, { poolSize: 4 }])(
  'an option of Postgres is refused on an embedded database: %j',
  async (options) => {
    for (const url of ['memory:', 'file:/dev/null/here']) {
      const error = await refusal('invalid_input', connect(url, options))
      expect(error.message).toContain(`${Object.keys(options)[0]} is for postgres:// alone`)
    }
  },
)

test('two engines on one database see each other', async () => {
  const url = await emptyDatabase()
  const [a, b] = await Promise.all([open(url), open(url)])
  const { executionId } = await a.engine.executions.create({ kind: 'k', lane: 'shared' })
  expect(await b.engine.executions.describe(executionId)).toMatchObject({ lane: 'shared' })
  await b.engine.executions.cancel({ executionId })
  expect(await a.engine.executions.result(executionId)).toMatchObject({ kind: 'cancelled' })
})

test('a second close does nothing, and every use after it is refused as closed', async () => {
  const ff = await connect(await emptyDatabase())
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  await ff.close()
  await ff.close()
  const { executions, lanes } = ff.engine
  await refusal('engine_closed', executions.create({ kind: 'k' }))
  await refusal('engine_closed', executions.create({ kind: 'new', idempotencyKey: 'x' }))
  await refusal('engine_closed', executions.cancel({ executionId }))
  await refusal('engine_closed', executions.describe(executionId))
  await refusal('engine_closed', executions.result(executionId))
  await refusal('engine_closed', executions.list())
  await refusal('engine_closed', executions.countByState())
  await refusal('engine_closed', executions.setTag(executionId, 'a', 'b'))
  await refusal('engine_closed', executions.getTag(executionId, 'a'))
  await refusal('engine_closed', lanes.list())
  await refusal('engine_closed', ff.engine.serverTime())
  expect(await executions.createMany([{ kind: 'k' }])).toMatchObject([
    { kind: 'refused', error: { code: 'engine_closed' } },
  ])
})

test('a close lets what was accepted finish', async () => {
  const url = await emptyDatabase()
  const ff = await connect(url)
  const accepted = Array.from({ length: 1200 }, () => ff.engine.executions.create({ kind: 'k' }))
  await ff.close()
  const answers = await Promise.all(accepted)
  expect(answers.every((answer) => answer.kind === 'created')).toBe(true)
})

test('a close ends within its time, whatever waits in the database', async () => {
  const url = await emptyDatabase()
  const ff = await connect(url)
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  const held = await hold(url, 'lock table flowfabric.ff_exec_core')
  ff.supervise()
  const open = [
    refusal('engine_closed', ff.engine.executions.describe(executionId)),
    refusal('engine_closed', ff.engine.executions.cancel({ executionId })),
  ]
  await held.waiters(3)
  const timers = vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const endings: string[] = []
  const closed = ff.close().then(() => endings.push('closed'))
  for (let round = 1; round <= 500 && endings.length === 0; round += 1) {
    timers.advanceTimersByTime(10_000)
    // The sockets keep their own time.
    await setTimeout(5)
  }
  expect(endings).toEqual(['closed'])
  await Promise.all([closed, ...open])
})

test('it can be disposed of at the end of a block', async () => {
  const url = await emptyDatabase()
  const ff = await connect(url)
  await ff[Symbol.asyncDispose]()
  await refusal('engine_closed', ff.engine.executions.list())
})

test('a database that goes away is told in our words', async () => {
  const database = await createDatabase(inject('postgres').url)
  const ff = await open(database.url)
  await database.drop()
  await refusal('database_not_found', ff.engine.executions.list())
  await refusal('database_not_found', ff.engine.executions.create({ kind: 'k' }))
})
