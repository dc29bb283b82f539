// Runs the database layer through PgBouncer in transaction mode, with fewer server connections than clients, so that
// sessions really mix. Each line reports a finding; the first wrong one ends the check.
import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from '../src/sql/logger.ts'
import { migrate } from '../src/sql/migrate.ts'
import { migrations } from '../src/sql/migrations/all.ts'
import type { Migration } from '../src/sql/migrations/migration.ts'
import { openPostgres } from '../src/sql/postgres.ts'
import { call, type Sql } from '../src/sql/sql.ts'
import { statement } from '../src/sql/statement.ts'
import { startPostgres } from '../test/support/postgres.ts'

const SETTING = statement({
  name: 'check.setting',
  params: { name: 'text' },
  row: { value: 'text' },
  text: 'select current_setting($1) as value',
})
const ADD = statement({
  name: 'check.add',
  params: { numbers: 'int8[]' },
  row: { sum: 'int8' },
  text: 'select coalesce(sum(n), 0)::int8 as sum from unnest($1::int8[]) as given (n)',
})
const FILL = statement({
  name: 'check.fill',
  params: { ids: 'int8[]' },
  row: { id: 'int8' },
  text: 'insert into flowfabric.check_row (id) select unnest($1::int8[]) returning id',
})
const DIVIDE = statement({
  name: 'check.divide',
  params: { by: 'int4' },
  row: { result: 'int4' },
  text: 'select 1 / $1::int4 as result',
})
const NOTIFY = statement({
  name: 'check.notify',
  params: { channel: 'text' },
  row: { done: 'bool' },
  text: `select pg_notify($1, 'hello') is not null as done`,
})

/** After the real ones: a table for the check, and an index that cannot be built inside a transaction. */
const ownMigrations: readonly Migration[] = [
  { name: 'check_table', transactional: true, text: 'create table flowfabric.check_row (id bigint primary key);' },
  {
    name: 'check_index',
    transactional: false,
    text: 'create index concurrently if not exists check_index on flowfabric.check_row (id);',
  },
].map((migration, index) => ({ ...migration, version: 1000 + index, oldestCode: '0.0.1' }))

const warnings: string[] = []
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message) => void warnings.push(message),
  error: (message) => void warnings.push(message),
}

const [program = ''] = process.argv.slice(2)
assert(program !== '', 'run scripts/pgbouncer.sh')

say(`${spawnSync(program, ['--version']).stdout.toString().split('\n')[0]}, transaction mode, 2 server connections`)
const directory = await mkdtemp(join(tmpdir(), 'flowfabric-pgbouncer-'))
const server = await startPostgres()
try {
  await checkThrough('that refuses settings at the start', '')
  await checkThrough('that takes settings at the start and ignores them', 'ignore_startup_parameters = options')
  say('everything works behind PgBouncer')
} finally {
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}

async function checkThrough(kind: string, configuration: string): Promise<void> {
  say(`a pooler ${kind}:`)
  const pooler = await startPooler(server.url, configuration)
  try {
    const open = (): Promise<Sql> =>
      openPostgres({ url: pooler.url, listenUrl: server.url, schema: 'flowfabric', poolSize: 4, logger })
    const handles = await Promise.all([open(), open(), open()])
    await check(handles)
    await Promise.all(handles.map((sql) => sql.close()))
    await checkDeafness(pooler.url)
  } finally {
    await pooler.stop()
  }
}

async function check(handles: readonly Sql[]): Promise<void> {
  const [sql] = handles
  assert(sql !== undefined)

  await sql.script('drop schema if exists flowfabric cascade')
  const all = [...migrations, ...ownMigrations]
  await Promise.all(handles.map((handle) => migrate(handle, all, { mode: true, codeVersion: '99.0.0' })))
  await migrate(sql, all, { mode: 'check', codeVersion: '99.0.0' })
  say('three clients migrated one database at once, inside and outside of transactions')

  const settings = await Promise.all(handles.map((handle) => handle.query(SETTING, { name: 'jit' })))
  assert.deepEqual(settings, [[{ value: 'off' }], [{ value: 'off' }], [{ value: 'off' }]])
  say('jit is off for every statement')

  await Promise.all(Array.from({ length: 300 }, (_, index) => mix(handles[index % handles.length] ?? sql, index)))
  const [filled] = await sql.query(ADD, { numbers: [1, 2, 3] })
  assert.deepEqual(filled, { sum: 6 })
  say('300 queries, pipelines and transactions of three clients were answered rightly')
  for (const warning of new Set(warnings.splice(0))) say(`as it should, each warned: ${warning}`)

  const heard: (string | null)[] = []
  await sql.listen('check', (payload) => heard.push(payload))
  await handles[1]?.query(NOTIFY, { channel: 'check' })
  await waitFor(() => heard.includes('hello'))
  say('a hint sent through the pooler arrived over the direct listen URL')
}

async function mix(sql: Sql, index: number): Promise<void> {
  const id = index * 10
  assert.deepEqual(await sql.query(ADD, { numbers: [id, 1] }), [{ sum: id + 1 }])
  const [added, rows] = await sql.pipeline([call(ADD, { numbers: [id, 2] }), call(FILL, { ids: [id, id + 1] })])
  assert.deepEqual(added, [{ sum: id + 2 }])
  assert.equal(rows.length, 2)
  const undone = sql.pipeline([call(FILL, { ids: [id + 2] }), call(DIVIDE, { by: 0 })])
  await assert.rejects(undone, { code: '22012' })
  const sum = await sql.transaction(async (tx) => {
    const inserted = await tx.query(FILL, { ids: [id + 2, id + 3] })
    return tx.query(ADD, { numbers: inserted.map((row) => row.id) })
  })
  assert.deepEqual(sum, [{ sum: 2 * id + 5 }])
}

async function checkDeafness(url: string): Promise<void> {
  const sql = await openPostgres({ url, schema: 'flowfabric', logger })
  await sql.listen('check', () => {})
  await waitFor(() => warnings.length > 0)
  say(`without a listen URL it warned: ${warnings.splice(0).join('; ')}`)
  await sql.close()
}

async function startPooler(target: string, configuration: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, username, pathname } = new URL(target)
  const ownPort = await freePort()
  const config = join(directory, 'pgbouncer.ini')
  await chmod(directory, 0o755)
  await writeFile(
    config,
    `[databases]
* = host=${hostname} port=${port} user=${username}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
${configuration}
`,
  )
  // PgBouncer refuses to run as root.
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, ['--quiet', ...asNobody, config], { stdio: ['ignore', 'ignore', 'inherit'] })
  await waitFor(() => answers(ownPort))
  return {
    url: `postgres://${username}@127.0.0.1:${ownPort}${pathname}`,
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}

async function waitFor(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 15_000
  while (!(await isTrue())) {
    assert(Date.now() < giveUpAt, `did not come true in time: ${isTrue.toString()}`)
    await setTimeout(20)
  }
}

function say(line: string): void {
  console.log(`- ${line}`)
}
