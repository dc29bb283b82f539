// Behaviour that only real connections can show: round trips, losses, wrong addresses, rights.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, inject, onTestFinished, test } from 'vitest'
import { isConnectionLost, sqlState } from '../../src/sql/errors.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { call, type Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { startPostgres } from '../support/postgres.ts'
import { startProxy, tie } from '../support/proxy.ts'
import { blankDatabase, Notes, until } from './fixture.ts'
import { ECHO, SAMPLE } from './sample.ts'

const BACKEND = statement({
  name: 'test.backend',
  params: {},
  row: { pid: 'int4' },
  text: 'select pg_backend_pid() as pid',
})
const SLEEP = statement({
  name: 'test.sleep',
  params: { seconds: 'float8' },
  row: { pid: 'int4' },
  text: 'select pg_backend_pid() as pid from pg_sleep($1)',
})
const SETTING = statement({
  name: 'test.setting',
  params: { name: 'text' },
  row: { value: 'text' },
  text: 'select current_setting($1) as value',
})
const BYTES = statement({
  name: 'test.bytes',
  params: { bytea: 'bytea' },
  row: { bytea: 'bytea' },
  text: 'select $1::bytea as bytea',
})
const TERMINATE = statement({
  name: 'test.terminate',
  params: { pids: 'int4[]' },
  row: { ended: 'bool' },
  text: 'select pg_terminate_backend(pid) as ended from unnest($1::int4[]) as given (pid)',
})

const setting = async (sql: Sql, name: string): Promise<string> => (await sql.query(SETTING, { name }))[0]!.value

test('queries spread over the pool, so a slow one delays no other', async () => {
  const database = await blankDatabase()
  const sql = await database.open({ poolSize: 3 })
  const slow = sql.query(SLEEP, { seconds: 0.4 })
  const quick = await sql.query(BACKEND, {})
  const outcome = await Promise.race([slow.then(() => 'slow'), Promise.resolve('quick')])
  expect(outcome).toBe('quick')
  expect((await slow)[0]!.pid).not.toBe(quick[0]!.pid)
})

test('calls beyond the number of connections wait for their turn', async () => {
  const database = await blankDatabase()
  const sql = await database.open({ poolSize: 2 })
  const pids = await Promise.all(Array.from({ length: 20 }, () => sql.query(SLEEP, { seconds: 0.01 })))
  expect(new Set(pids.map(([row]) => row!.pid)).size).toBe(2)
})

test('a pipeline takes one round trip, a transaction one for each statement and one for the commit', async () => {
  const database = await blankDatabase()
  const proxy = await countingProxy(database.url)
  const sql = await database.open({ url: proxy.url })
  const five = Array.from({ length: 5 }, () => call(BACKEND, {}))
  expect(await proxy.tripsOf(() => sql.pipeline(five))).toBe(1)
  expect(await proxy.tripsOf(() => sql.query(BACKEND, {}))).toBe(1)
  const twoStatements = (): Promise<void> =>
    sql.transaction(async (tx) => {
      await tx.query(BACKEND, {})
      await tx.query(BACKEND, {})
    })
  expect(await proxy.tripsOf(twoStatements)).toBe(3)
})

test("bytes are copied at the call, so a later change of the caller's buffer has no effect", async () => {
  const database = await blankDatabase()
  const sql = await database.open({ poolSize: 1 })
  const [changed, given] = [new Uint8Array([1, 2, 3]), new Uint8Array([4, 5, 6])]
  const slow = sql.query(SLEEP, { seconds: 0.1 })
  const asked = [changed, given].map((bytea) => sql.pipeline([call(BYTES, { bytea }), call(BACKEND, {})]))
  changed.fill(9)
  structuredClone(given, { transfer: [given.buffer] })
  const [first, second] = await Promise.all(asked)
  expect(first![0]).toEqual([{ bytea: new Uint8Array([1, 2, 3]) }])
  expect(second![0]).toEqual([{ bytea: new Uint8Array([4, 5, 6]) }])
  await slow
})

test('connections have jit off, read committed, and a name', async () => {
  const database = await blankDatabase()
  const sql = await database.open()
  expect(await setting(sql, 'jit')).toBe('off')
  expect(await setting(sql, 'default_transaction_isolation')).toBe('read committed')
  expect(await setting(sql, 'application_name')).toBe('flowfabric')
})

test('settings in the URL are kept beside ours', async () => {
  const database = await blankDatabase()
  const url = `${database.url}?application_name=mine&options=-c%20work_mem%3D7MB&sslmode=disable&prepare=false`
  const sql = await database.open({ url })
  expect(await setting(sql, 'application_name')).toBe('mine')
  expect(await setting(sql, 'work_mem')).toBe('7MB')
  expect(await setting(sql, 'jit')).toBe('off')
})

test('another time zone of the session changes no value', async () => {
  const database = await blankDatabase()
  const sql = await database.open({ url: `${database.url}?options=-c%20timezone%3DAsia/Kolkata` })
  expect(await setting(sql, 'timezone')).toBe('Asia/Kolkata')
  expect(await sql.query(ECHO, SAMPLE)).toStrictEqual([SAMPLE])
})

test('a connection that the server drops while idle is replaced, and the process lives', async () => {
  const database = await blankDatabase()
  const notes = new Notes()
  const sql = await database.open({ logger: notes })
  const other = await database.open()
  const [{ pid } = { pid: 0 }] = await sql.query(BACKEND, {})
  await other.query(TERMINATE, { pids: [pid] })
  await until(() => notes.details.length > 0)
  expect(notes.details[0]).toContain('an idle database connection was lost')
  expect(notes.warnings).toEqual([])
  const [after] = await sql.query(BACKEND, {})
  expect(after!.pid).not.toBe(pid)
})

test('a connection that is lost in the middle of a call throws, and does not return to the pool', async () => {
  const database = await blankDatabase()
  const sql = await database.open({ poolSize: 2 })
  const other = await database.open()
  const [{ pid } = { pid: 0 }] = await sql.query(BACKEND, {})
  const slow = sql.query(SLEEP, { seconds: 20 })
  const failed = slow.then(
    () => undefined,
    (error: unknown) => error,
  )
  await until(async () => (await other.query(TERMINATE, { pids: [pid] }))[0]!.ended && isSettled(failed))
  expect(isConnectionLost(await failed)).toBe(true)
  const pids = await Promise.all([sql.query(BACKEND, {}), sql.query(BACKEND, {})])
  expect(pids.map(([row]) => row!.pid)).not.toContain(pid)
})

test('a transaction whose connection is lost between two statements fails, and the pool continues to work', async () => {
  const database = await blankDatabase()
  const sql = await database.open({ poolSize: 2 })
  const other = await database.open()
  const work = sql.transaction(async (tx) => {
    const [row] = await tx.query(BACKEND, {})
    await other.query(TERMINATE, { pids: [row!.pid] })
    await setTimeout(50)
    await tx.query(BACKEND, {})
  })
  await expect(work).rejects.toSatisfy(isConnectionLost)
  expect(await sql.query(BACKEND, {})).toHaveLength(1)
})

test('a session that the server ends because its transaction takes too long is a lost connection', async () => {
  const server = await startPostgres({ version: 18 })
  onTestFinished(() => server.stop())
  const url = `${server.url}?options=-c%20transaction_timeout%3D50`
  const sql = await openPostgres({ url, schema: 'flowfabric', poolSize: 1 })
  const slow = sql.pipeline([call(SLEEP, { seconds: 20 }), call(BACKEND, {})])
  const error: unknown = await slow.catch((caught: unknown) => caught)
  expect(sqlState(error)).toBe('25P04')
  expect(isConnectionLost(error)).toBe(true)
  expect(await sql.query(BACKEND, {})).toHaveLength(1)
  await sql.close()
})

test('FAULT-02 a closed port is an error that says what to check, not a crash', async () => {
  const port = await closedPort()
  const opened = openPostgres({ url: `postgres://someone:secret@127.0.0.1:${port}/x`, schema: 'flowfabric' })
  const error: unknown = await opened.catch((caught: unknown) => caught)
  expect(error).toMatchObject({ name: 'DatabaseError', reason: 'unreachable' })
  expect(isConnectionLost(error)).toBe(true)
  expect(String(error)).toContain(`someone:***@127.0.0.1:${port}`)
  expect(String(error)).toContain('Check the host and port')
  expect(String(error)).not.toContain('secret')
})

test.each([
  ['mysql://localhost/x', 'it must start with postgres://'],
  ['postgres://host:port/x', 'cannot be parsed'],
  ['postgres:user:top@secret@host/x', 'it must start with postgres://'],
  ['user:top:secret@host/x', 'it must start with postgres://'],
  ['mysql:user:secret@host', 'it must start with postgres://'],
  ['postgres://user:top#secret@host/x', 'as %XX'],
  ['postgres://user:top?secret@host/x', 'as %XX'],
  ['postgres://host/x?prepare=maybe', 'prepare must be true or false'],
])('the URL %s is refused with the reason and the right form', async (url, message) => {
  const error: unknown = await openPostgres({ url, schema: 'flowfabric' }).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ reason: 'bad_url' })
  expect(String(error)).toContain(message)
  expect(String(error)).not.toMatch(/top|secret/)
})

test('an unknown database has an error reason of its own', async () => {
  const url = new URL(inject('postgres').url)
  url.pathname = '/no_such_database'
  await expect(openPostgres({ url: url.href, schema: 'flowfabric' })).rejects.toMatchObject({
    reason: 'unknown_database',
    sqlState: '3D000',
  })
})

test('a wrong password, no password, an unknown role and a missing right to connect have different errors', async () => {
  const server = await startPostgres({ version: 18, settings: { hba_file: await writeHba() } })
  onTestFinished(() => server.stop())
  const owner = await openPostgres({ url: server.url, schema: 'flowfabric' })
  await owner.script(`create role app login password 'right'`)
  const failure = async (username: string, password: string): Promise<unknown> => {
    const url = new URL(server.url)
    url.username = username
    url.password = password
    const opened = openPostgres({ url: url.href, schema: 'flowfabric' })
    return opened.then(
      (sql) => sql.close(),
      (error: unknown) => error,
    )
  }
  expect(await failure('app', 'right')).toBeUndefined()
  expect(await failure('app', 'wrong')).toMatchObject({ reason: 'wrong_password', sqlState: '28P01' })
  expect(await failure('app', '')).toMatchObject({ reason: 'wrong_password', hint: 'Add a password to the URL.' })
  expect(await failure('nobody_of_that_name', 'x')).toMatchObject({ reason: 'wrong_password' })
  await owner.script('revoke connect on database postgres from public')
  expect(await failure('app', 'right')).toMatchObject({ reason: 'missing_right', sqlState: '42501' })
  await owner.close()
})

test.each([
  ['', 'must have 1 to 63 bytes'],
  ['x'.repeat(64), 'must have 1 to 63 bytes'],
  ['ü'.repeat(32), 'must have 1 to 63 bytes'],
  ['a\0b', 'no NUL'],
  ['pg_mine', 'reserved'],
])('the schema name %j is refused before a connection is opened', async (schema, message) => {
  await expect(openPostgres({ url: 'postgres://127.0.0.1:1/x', schema })).rejects.toThrow(message)
})

// Everyone but the superuser needs a password. Readable for the user that the server runs as.
async function writeHba(): Promise<string> {
  const directory = await mkdtemp('/tmp/flowfabric-hba-')
  onTestFinished(() => rm(directory, { recursive: true }))
  await chmod(directory, 0o755)
  const file = join(directory, 'pg_hba.conf')
  await writeFile(file, 'local all all trust\nhost all postgres all trust\nhost all all all scram-sha-256\n')
  return file
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  return (await Promise.race([promise, setTimeout(5, pending)])) !== pending
}

/** Forwards the data of a short period in one piece, and counts the pieces on their way to the server. */
async function countingProxy(
  target: string,
): Promise<{ url: string; tripsOf(work: () => Promise<unknown>): Promise<number> }> {
  let trips = 0
  const pass = (from: Socket, to: Socket, onPiece: () => void): void => {
    let waiting: Buffer[] = []
    const flush = (): void => {
      to.write(Buffer.concat(waiting))
      waiting = []
      onPiece()
    }
    from.on('data', (bytes) => {
      if (waiting.length === 0) globalThis.setTimeout(flush, 30)
      waiting.push(bytes)
    })
  }
  const url = await startProxy(target, (client, database) => {
    tie(client, database)
    pass(client, database, () => (trips += 1))
    pass(database, client, () => {})
  })
  const tripsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = trips
    await work()
    return trips - before
  }
  return { url, tripsOf }
}

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
