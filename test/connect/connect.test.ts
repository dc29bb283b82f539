import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { inspect } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { connect, type ConnectOptions } from '../../src/connect/connect.ts'
import { createDatabase } from '../support/database.ts'
import { startPostgres } from '../support/postgres.ts'
import { refusal } from '../support/refusal.ts'
import { emptyDatabase, open, run } from './empty-database.ts'

function as(url: string, username: string, password: string): string {
  const other = new URL(url)
  other.username = username
  other.password = password
  return other.href
}

test('connect creates the schema and returns an engine that works', async () => {
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
  ['postgres://host:port/x', /cannot be parsed/],
  ['postgres://h/x?prepare=maybe', /prepare must be true or false/],
  [undefined, /undefined.*postgres:\/\//],
  [7, /7.*postgres:\/\//],
])('the error for a bad URL says what to write: %s', async (url, message) => {
  const error = await refusal('invalid_url', connect(url as string))
  expect(error.message).toMatch(message)
  // With its details and its cause.
  expect(inspect([error, error.details], { depth: 9 })).not.toContain('secret')
})

test('FAULT-02 a server that does not answer is unreachable, and the error hides the password', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const error = await refusal('database_unreachable', connect(`postgres://someone:secret@127.0.0.1:${port}/x`))
  expect(error.retryable).toBe(true)
  expect(error.message).toMatch(/127\.0\.0\.1.*Check the host and port/)
  expect(error.message).not.toContain('secret')
  expect(JSON.stringify(error)).not.toContain('secret')
})

test('a host that does not exist is unreachable', async () => {
  await refusal('database_unreachable', connect('postgres://host.invalid/x'))
})

test('an unknown database has an error of its own', async () => {
  const url = new URL(await emptyDatabase())
  url.pathname = '/no_such_database'
  const error = await refusal('database_not_found', connect(url.href))
  expect(error.message).toMatch(/no_such_database.*[Cc]reate the database/)
})

test('a wrong password has an error of its own, and is not repeated in the message', async () => {
  const server = await startPostgres({ version: 18, settings: { hba_file: await passwordsNeeded() } })
  onTestFinished(() => server.stop())
  await run(server.url, `create role app login password 'right'`)
  const error = await refusal('database_auth_failed', connect(as(server.url, 'app', 'wrong-one')))
  expect(error.message).toMatch(/Check the user and password/)
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

test('the error for a role that may not create names the missing grant, and the role works with an existing schema', async () => {
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

test.each([
  [{ schemas: 'a' }, /unknown field "schemas"; did you mean schema\?/],
  [{ pool_size: 4 }, /did you mean poolSize\?/],
  [{ grantTo: '' }, /grantTo.*the name of a database role/],
  [{ quux: 1 }, /allowed fields are migrate, schema/],
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

test("two engines on one database see each other's executions", async () => {
  const url = await emptyDatabase()
  const [a, b] = await Promise.all([open(url), open(url)])
  const { executionId } = await a.engine.executions.create({ kind: 'k', lane: 'shared' })
  expect(await b.engine.executions.describe(executionId)).toMatchObject({ lane: 'shared' })
  await b.engine.executions.cancel({ executionId })
  expect(await a.engine.executions.result(executionId)).toMatchObject({ kind: 'cancelled' })
})

test('a database that goes away is reported with an error of FlowFabric', async () => {
  const database = await createDatabase(inject('postgres').url)
  const ff = await open(database.url)
  await database.drop()
  await refusal('database_not_found', ff.engine.executions.list())
  await refusal('database_not_found', ff.engine.executions.create({ kind: 'k' }))
})
