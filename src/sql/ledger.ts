// The record of applied migrations in the database, and whether this code fits them.
import { createHash } from 'node:crypto'
import { compareVersions } from './compare-versions.ts'
import { DatabaseError } from './errors.ts'
import { released, type Migration } from './migrations/migration.ts'
import { quoteIdentifier } from './qualify.ts'
import type { Queries } from './sql.ts'
import { statement, type RowOf } from './statement.ts'

const ledgerExistsStatement = statement({
  name: 'migration.ledger_exists',
  params: {},
  row: { found: 'bool' },
  text: `select to_regclass('flowfabric.ff_migration') is not null as found`,
})

export const readLedgerStatement = statement({
  name: 'migration.read_ledger',
  params: {},
  row: { version: 'int4', name: 'text', checksum: 'text', oldest_code: 'text' },
  text: `
select version, name, checksum, oldest_code
  from flowfabric.ff_migration
 order by version`,
})

const recordStatement = statement({
  name: 'migration.record',
  params: { version: 'int4', name: 'text', checksum: 'text', oldest_code: 'text' },
  row: {},
  text: `
insert into flowfabric.ff_migration (version, name, checksum, oldest_code, applied_at_ms)
values ($1, $2, $3, $4, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (version) do nothing`,
})

const schemaExistsStatement = statement({
  name: 'migration.schema_exists',
  params: { schema: 'text' },
  row: { found: 'bool' },
  text: `select exists (select from pg_namespace where nspname = $1::text) as found`,
})

const createLedger = `
create table flowfabric.ff_migration (
  version int primary key,
  name text not null,
  checksum text not null,
  oldest_code text not null,
  applied_at_ms bigint not null
)`

export type LedgerEntry = RowOf<typeof readLedgerStatement.row>

/** Null: the schema does not exist yet. */
export async function readLedger(sql: Queries): Promise<readonly LedgerEntry[] | null> {
  const [ledger] = await sql.query(ledgerExistsStatement, {})
  return ledger?.found === true ? sql.query(readLedgerStatement, {}) : null
}

/** Called under the lock. Reads before it creates: even `if not exists` requires the right to create. */
export async function ensureLedger(tx: Queries, schema: string): Promise<void> {
  const [ledger] = await tx.query(ledgerExistsStatement, {})
  if (ledger?.found === true) return
  if (!(await schemaExists(tx, schema))) await tx.script(`create schema ${quoteIdentifier(schema)}`)
  await tx.script(createLedger)
}

export async function schemaExists(sql: Queries, schema: string): Promise<boolean> {
  const [row] = await sql.query(schemaExistsStatement, { schema })
  return row?.found === true
}

export async function record(sql: Queries, migration: Migration): Promise<void> {
  await sql.query(recordStatement, {
    version: migration.version,
    name: migration.name,
    checksum: checksumOf(migration),
    oldest_code: migration.oldestCode,
  })
}

/**
 * The pending migrations. A database that is newer than this code is fine as long as its newest migrations allow code
 * of our version. So a deploy may migrate first and restart its processes one by one.
 */
export function pendingIn(
  ledger: readonly LedgerEntry[],
  migrations: readonly Migration[],
  schema: string,
  codeVersion: string,
): Migration[] {
  refuseOldCode(ledger, schema, codeVersion)
  const applied = new Map(ledger.map((entry) => [entry.version, entry]))
  for (const migration of migrations) {
    const entry = applied.get(migration.version)
    if (entry !== undefined && entry.checksum !== checksumOf(migration)) throw differs(entry, schema)
  }
  return migrations.filter((migration) => !applied.has(migration.version))
}

export function refuseOldCode(ledger: readonly LedgerEntry[], schema: string, codeVersion: string): void {
  const tooNew = ledger.find((entry) => compareVersions(codeVersion, entry.oldest_code) < 0)
  if (tooNew !== undefined) throw codeTooOld(tooNew, schema, codeVersion)
}

function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.text).digest('hex')
}

function codeTooOld(entry: LedgerEntry, schema: string, codeVersion: string): DatabaseError {
  return new DatabaseError(
    'code_too_old',
    `Schema ${schema} has migration ${entry.version} (${entry.name}), which needs flowfabric ${entry.oldest_code} or newer; this is ${codeVersion}`,
    `Upgrade flowfabric to ${entry.oldest_code} or newer.`,
  )
}

function differs(entry: LedgerEntry, schema: string): DatabaseError {
  const sentence = `Migration ${entry.version} (${entry.name}) of schema ${schema} differs from the one in this code`
  if (released) {
    return new DatabaseError(
      'schema_differs',
      sentence,
      'Applied migrations must not change; reinstall an unmodified flowfabric.',
    )
  }
  return new DatabaseError(
    'schema_differs',
    sentence,
    `Before the first release, schema changes have no migration. Run drop schema ${quoteIdentifier(schema)} cascade; and start again.`,
  )
}
