// Brings a schema up to date, also when ten processes start at once.
//
// A migration waits for its locks for a second at most and then tries again: while it waits for a table, every process
// that uses that table waits behind it, so one long reader would stop the fleet. If it has not got the locks within two
// minutes, it refuses and names the transactions that block it.
//
// Each migration is a transaction that holds an advisory lock, applies the migration and writes it into the ledger. The
// lock is tried, not waited for: a process that waits inside a statement keeps a snapshot, and an index that is built
// concurrently waits for every older snapshot.
//
// A migration outside a transaction needs a lock that outlives its statements. A session lock would do on a direct
// connection, but behind a pooler the session is not ours. So one connection holds the same transaction lock, idle and
// without a snapshot, while the statements run on others; its commit writes the ledger and releases the lock. If the
// holder dies, another process runs the file from its beginning. The embedded database has one process and one
// connection, and needs no lock.
import { AsyncResource } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { timeoutOf } from './begin.ts'
import { migrationBlocked } from './blockers.ts'
import { DatabaseError, sqlState } from './errors.ts'
import { ensureLedger, pendingIn, readLedger, record, schemaExists } from './ledger.ts'
import { silent, type Logger } from './logger.ts'
import type { Migration } from './migrations/migration.ts'
import { quoteIdentifier } from './qualify.ts'
import { splitStatements } from './split-statements.ts'
import type { Queries, Sql } from './sql.ts'
import { statement } from './statement.ts'

export interface MigrateOptions {
  /** True: apply pending migrations. 'check': refuse when one is pending. False: do not read the ledger. */
  readonly mode: true | 'check' | false
  readonly codeVersion: string
  readonly logger?: Logger
  /** How long one try waits for a lock; defaults to a second. */
  readonly lockTimeoutMs?: number
  /** How long it keeps trying; defaults to two minutes. */
  readonly lockPatienceMs?: number
}

export async function migrate(sql: Sql, migrations: readonly Migration[], options: MigrateOptions): Promise<void> {
  if (options.mode === false) return
  try {
    if (options.mode === 'check') await check(sql, migrations, options)
    else await apply(sql, migrations, options)
  } catch (error) {
    if (sqlState(error) !== '42501' || error instanceof DatabaseError) throw error
    throw await missingRight(sql, error)
  }
}

async function check(sql: Sql, migrations: readonly Migration[], { codeVersion }: MigrateOptions): Promise<void> {
  const ledger = await readLedger(sql)
  const next = 'Connect once with migrate: true, as a role that can create tables.'
  if (ledger === null) throw new DatabaseError('schema_missing', `The schema ${sql.schema} is not installed`, next)
  const [first] = pendingIn(ledger, migrations, sql.schema, codeVersion)
  if (first === undefined) return
  throw new DatabaseError(
    'schema_outdated',
    `Schema ${sql.schema} lacks migration ${first.version} (${first.name})`,
    next,
  )
}

/** A table may be large. */
const asLongAsItTakes = { statementTimeoutMs: Infinity } as const

const retryMs = 100
const sayEveryMs = 10_000

async function apply(sql: Sql, migrations: readonly Migration[], options: MigrateOptions): Promise<void> {
  const logger = options.logger ?? silent
  const pendingFor = async (queries: Queries): Promise<Migration | undefined> => {
    const ledger = await readLedger(queries)
    const [next] = pendingIn(ledger ?? [], migrations, sql.schema, options.codeVersion)
    return next
  }
  const { lockTimeoutMs = 1000, lockPatienceMs = 120_000 } = options
  const say = everySoOften(logger)
  let patientUntil = Infinity
  for (;;) {
    // Read without the lock first: a role that may only use the schema can start when no migration is pending.
    const next = await pendingFor(sql)
    if (next === undefined) return
    try {
      const hadLock = await (next.transactional
        ? applyInside(sql, pendingFor, lockTimeoutMs)
        : applyOutside(sql, next, pendingFor))
      patientUntil = Infinity
      if (hadLock) continue
      say(`another process is migrating schema ${sql.schema}; waiting for it`)
      await setTimeout(retryMs * (0.5 + Math.random()))
    } catch (error) {
      if (sqlState(error) !== '55P03') throw error
      patientUntil = Math.min(patientUntil, performance.now() + lockPatienceMs)
      const blocked = await migrationBlocked(sql, next, error)
      if (performance.now() >= patientUntil) throw blocked
      say(blocked.message)
      // Processes that queued behind it go first.
      await setTimeout(lockTimeoutMs * (1 + Math.random()))
    }
  }
}

function everySoOften(logger: Logger): (message: string) => void {
  let saidAt = performance.now()
  return (message) => {
    if (performance.now() - saidAt <= sayEveryMs) return
    logger.info(message)
    saidAt = performance.now()
  }
}

type PendingFor = (queries: Queries) => Promise<Migration | undefined>

/** False: another process has the lock. */
async function applyInside(sql: Sql, pendingFor: PendingFor, lockTimeoutMs: number): Promise<boolean> {
  return sql.transaction(async (tx) => {
    if (!(await tryLock(tx, sql.schema))) return false
    await ensureLedger(tx, sql.schema)
    // Read again under the lock: another process may have applied it meanwhile.
    const next = await pendingFor(tx)
    if (next?.transactional !== true) return true
    await tx.script(`set local lock_timeout = ${timeoutOf(lockTimeoutMs)}`)
    await tx.script(next.text)
    await record(tx, next)
    return true
  }, asLongAsItTakes)
}

/** False: another process has the lock. */
async function applyOutside(sql: Sql, migration: Migration, pendingFor: PendingFor): Promise<boolean> {
  if (!(await ensureLedgerAlone(sql))) return false
  // Bound to this context: inside the transaction that holds the lock, the root handle would be refused.
  const runStatements = AsyncResource.bind(() => runOneByOne(sql, migration))
  if (sql.kind === 'embedded') {
    await runStatements()
    await record(sql, migration)
    return true
  }
  return sql.transaction(async (tx) => {
    if (!(await tryLock(tx, sql.schema))) return false
    const next = await pendingFor(tx)
    if (next?.version !== migration.version) return true
    // Last before the wait, because a query's portal keeps its snapshot until the next command replaces it.
    await tx.script('set local idle_in_transaction_session_timeout = 0')
    await runStatements()
    await record(tx, migration)
    return true
  }, asLongAsItTakes)
}

async function ensureLedgerAlone(sql: Sql): Promise<boolean> {
  if ((await readLedger(sql)) !== null) return true
  return sql.transaction(async (tx) => {
    if (!(await tryLock(tx, sql.schema))) return false
    await ensureLedger(tx, sql.schema)
    return true
  })
}

const invalidIndexesStatement = statement({
  name: 'migration.invalid_indexes',
  params: { schema: 'text' },
  row: { name: 'text' },
  text: `
select c.relname::text as name
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = $1::text
   and c.relkind = 'i'
   and not i.indisvalid
 order by 1`,
})

// The server runs a script of several statements as one transaction, so each statement is sent by itself.
async function runOneByOne(sql: Sql, migration: Migration): Promise<void> {
  for (const { name } of await sql.query(invalidIndexesStatement, { schema: sql.schema })) {
    const index = `${quoteIdentifier(sql.schema)}.${quoteIdentifier(name)}`
    await sql.script(`drop index concurrently if exists ${index}`, asLongAsItTakes)
  }
  // Built concurrently, so that it blocks no other process while it waits.
  for (const text of splitStatements(migration.text)) await sql.script(text, asLongAsItTakes)
}

const tryLockStatement = statement({
  name: 'migration.try_lock',
  params: { schema: 'text' },
  row: { locked: 'bool' },
  text: `select pg_try_advisory_xact_lock(hashtextextended('ff_migrate ' || $1, 0)) as locked`,
})

async function tryLock(tx: Queries, schema: string): Promise<boolean> {
  const [row] = await tx.query(tryLockStatement, { schema })
  return row?.locked === true
}

const whoStatement = statement({
  name: 'migration.who',
  params: {},
  row: { role: 'text', database: 'text' },
  text: `select quote_ident(current_user) as role, quote_ident(current_database()) as database`,
})

async function missingRight(sql: Sql, cause: unknown): Promise<DatabaseError> {
  const [who] = await sql.query(whoStatement, {})
  const { role = '', database = '' } = who ?? {}
  const schema = quoteIdentifier(sql.schema)
  const grant = (await schemaExists(sql, sql.schema))
    ? `grant usage, create on schema ${schema} to ${role}; grant all on all tables in schema ${schema} to ${role};`
    : `grant create on database ${database} to ${role};`
  return new DatabaseError(
    'missing_right',
    `Role ${role} lacks a permission on schema ${sql.schema}: ${(cause as Error).message}`,
    `As the owner of the schema, run: ${grant} Or migrate as another role, and connect this role with migrate: 'check'.`,
    cause,
  )
}
