// The transactions that block a migration.
import { DatabaseError } from './errors.ts'
import type { Migration } from './migrations/migration.ts'
import type { Sql } from './sql.ts'
import { statement, type RowOf } from './statement.ts'

// Any lock on one of our tables blocks a migration of that table. The oldest transaction comes first: end that one.
const readBlockers = statement({
  name: 'migration.blockers',
  params: { schema: 'text' },
  row: { pid: 'int4', application: 'text', state: 'text?', query_s: 'int8?', transaction_s: 'int8?', relation: 'text' },
  text: `
select a.pid, coalesce(a.application_name, '') as application, a.state,
  extract(epoch from clock_timestamp() - a.query_start)::int8 as query_s,
  extract(epoch from clock_timestamp() - a.xact_start)::int8 as transaction_s, min(c.relname::text) as relation
from pg_locks l
join pg_class c on c.oid = l.relation
join pg_namespace n on n.oid = c.relnamespace
join pg_stat_activity a on a.pid = l.pid
where n.nspname = $1::text and l.granted and l.database = (select oid from pg_database where datname = current_database())
  and a.pid <> pg_backend_pid()
group by a.pid, a.application_name, a.state, a.query_start, a.xact_start
order by a.xact_start, a.pid
limit 3`,
})

export async function migrationBlocked(sql: Sql, migration: Migration, cause: unknown): Promise<DatabaseError> {
  const blockers = await sql.query(readBlockers, { schema: sql.schema })
  const found = blockers.length === 0 ? 'another transaction' : blockers.map(shown).join('; ')
  return new DatabaseError(
    'migration_blocked',
    `Migration ${migration.version} (${migration.name}) of schema ${sql.schema} is waiting for a lock held by ${found}`,
    'Wait for it to finish, or end it with select pg_terminate_backend(pid). Then migrate again.',
    cause,
  )
}

function shown({ pid, application, state, query_s, transaction_s, relation }: RowOf<typeof readBlockers.row>): string {
  const name = application === '' ? '' : ` (${application})`
  const what = state === 'active' ? `running a query for ${query_s} s` : `${state ?? 'unknown'} for ${query_s} s`
  return `pid ${pid}${name} on ${relation}, ${what}, in a transaction of ${transaction_s} s`
}
