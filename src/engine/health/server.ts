// Checks the server itself: its version, its clock and settings, and the transactions that block others.
import { statement } from '../../sql/statement.ts'
import { finding, lasting, type Finding } from './finding.ts'
import { readOnly, type CheckDeps } from './read-only.ts'

const readServer = statement({
  name: 'health.server',
  params: {},
  row: {
    version: 'text',
    version_number: 'int4',
    jit: 'text',
    autovacuum: 'text',
    is_read_only: 'bool',
    connection_count: 'int4',
    connection_limit: 'int4',
    now_ms: 'int8',
  },
  text: `
select current_setting('server_version') as version, current_setting('server_version_num')::int4 as version_number,
  current_setting('jit') as jit, current_setting('autovacuum') as autovacuum,
  pg_is_in_recovery() as is_read_only,
  (select count(*)::int4 from pg_stat_activity where backend_type = 'client backend') as connection_count,
  current_setting('max_connections')::int4 as connection_limit,
  floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms`,
})

const oldestVersion = 150_000
const notedSkewMs = 2000
const badSkewMs = 30_000

export async function findServer(deps: CheckDeps): Promise<Finding[]> {
  const { kind } = deps.sql
  const askedAt = Date.now()
  const [row] = await readOnly(deps, (tx) => tx.query(readServer, {}))
  const answeredAt = Date.now()
  const found = row!
  const isOld = found.version_number < oldestVersion
  const name = kind === 'embedded' ? 'the embedded database' : 'Postgres'
  // The server read its clock between the request and the reply; the travel time is not part of the difference.
  const skewMs = found.now_ms > answeredAt ? found.now_ms - answeredAt : Math.max(0, askedAt - found.now_ms)
  const share = found.connection_count / found.connection_limit
  return [
    isOld
      ? finding('version', 'trouble', `Postgres is version ${found.version}; version 15 or newer is required.`)
      : finding('version', 'fine', `The database is ${name}, version ${found.version}.`),
    found.is_read_only
      ? finding('writable', 'trouble', 'The database is a standby and accepts no writes.', {
          next: 'Connect to the primary.',
        })
      : finding('writable', 'fine', 'The database accepts writes.'),
    skewMs < notedSkewMs
      ? finding('clock', 'fine', 'The clocks of the database and of this machine agree.')
      : finding(
          'clock',
          skewMs < badSkewMs ? 'note' : 'trouble',
          `The clocks of the database and of this machine are ${lasting(skewMs)} apart.`,
          {
            next: "FlowFabric uses only the database's clock. Synchronize both with NTP, so that you can compare times.",
          },
        ),
    found.jit === 'off'
      ? finding('jit', 'fine', 'JIT compilation is off.')
      : finding('jit', 'trouble', 'JIT compilation is on, which makes these statements slower.', {
          next: 'A connection pooler dropped the setting jit = off. Run: alter role ... set jit = off.',
        }),
    ...(kind === 'embedded'
      ? []
      : [
          share < 0.9
            ? finding(
                'connections',
                'fine',
                `${found.connection_count} of ${found.connection_limit} connections are open.`,
              )
            : finding(
                'connections',
                'trouble',
                `${found.connection_count} of ${found.connection_limit} connections are open.`,
                {
                  next: 'Raise max_connections, lower poolSize, or use a connection pooler.',
                },
              ),
          found.autovacuum === 'on'
            ? finding('autovacuum', 'fine', 'Autovacuum is on.')
            : finding('autovacuum', 'trouble', 'Autovacuum is off: tables grow without end.', {
                next: 'Set autovacuum = on.',
              }),
        ]),
  ]
}

// Transactions that this role may see. An idle session blocks nothing unless it has begun a transaction.
const readTransactions = statement({
  name: 'health.transactions',
  params: {},
  row: { who: 'text', state: 'text', age_ms: 'int8' },
  text: `
select t.who, t.state, t.age_ms
from (
  select concat_ws(' ', 'pid', a.pid, a.usename, nullif(a.application_name, '')) as who, a.state::text as state,
    flowfabric.ff_now_ms() - floor(extract(epoch from a.xact_start) * 1000)::int8 as age_ms
  from pg_stat_activity a
  where a.datname = current_database() and a.xact_start is not null and a.pid <> pg_backend_pid()
    and a.backend_type = 'client backend'
  union all
  select concat_ws(' ', 'prepared transaction', p.gid, 'of', p.owner), 'prepared',
    flowfabric.ff_now_ms() - floor(extract(epoch from p.prepared) * 1000)::int8
  from pg_prepared_xacts p
  where p.database = current_database()
) t
order by t.age_ms desc
limit 5`,
})

const notedTransactionMs = 60_000
const badTransactionMs = 15 * 60_000

export async function findTransactions(deps: CheckDeps): Promise<Finding[]> {
  if (deps.sql.kind === 'embedded') return []
  const rows = await readOnly(deps, (tx) => tx.query(readTransactions, {}))
  const old = rows.filter((row) => row.age_ms >= notedTransactionMs)
  const oldest = old[0]
  if (oldest === undefined) return [finding('transactions', 'fine', 'No transaction is older than a minute.')]
  const verdict = oldest.age_ms < badTransactionMs ? 'note' : 'trouble'
  return [
    finding(
      'transactions',
      verdict,
      `The oldest transaction has been open for ${lasting(oldest.age_ms)}; vacuum cannot remove rows that were deleted since.`,
      {
        next: 'End it with select pg_terminate_backend(pid) or rollback prepared, and set idle_in_transaction_session_timeout.',
        subjects: old.map((row) => `${row.who}, ${row.state}, ${lasting(row.age_ms)}`),
      },
    ),
  ]
}

const readBloat = statement({
  name: 'health.bloat',
  params: { schema: 'text' },
  row: { name: 'text', dead_count: 'int8', live_count: 'int8', vacuumed_ms_ago: 'int8?', may_vacuum: 'bool' },
  text: `
select t.relname::text as name, t.n_dead_tup as dead_count, t.n_live_tup as live_count,
  floor(extract(epoch from clock_timestamp() - greatest(t.last_autovacuum, t.last_vacuum)) * 1000)::int8 as vacuumed_ms_ago,
  pg_has_role(c.relowner, 'usage') or pg_has_role(d.datdba, 'usage')
    or case when current_setting('server_version_num')::int4 >= 170000
      then has_table_privilege(c.oid, 'maintain') else false end as may_vacuum
from pg_stat_user_tables t
join pg_class c on c.oid = t.relid
join pg_database d on d.datname = current_database()
where t.schemaname = $1::text and t.n_dead_tup > 10000 and t.n_dead_tup > t.n_live_tup
order by t.n_dead_tup desc
limit 10`,
})

export const badDeadCount = 100_000

export async function readBloatedTables(deps: CheckDeps) {
  return readOnly(deps, (tx) => tx.query(readBloat, { schema: deps.sql.schema }))
}

export async function findBloat(deps: CheckDeps): Promise<Finding[]> {
  const rows = await readBloatedTables(deps)
  if (rows.length === 0) return [finding('bloat', 'fine', 'No table has more dead rows than live rows.')]
  const worst = rows[0]!.dead_count
  return [
    finding(
      'bloat',
      worst < badDeadCount ? 'note' : 'trouble',
      `Tables with more dead rows than live rows: ${rows.length}.`,
      {
        next: 'Check for old transactions first. Then run vacuum (analyze) on these tables as their owner, or tune autovacuum.',
        subjects: rows.map(({ name, dead_count, live_count, vacuumed_ms_ago: ago }) => {
          const vacuumed = ago === null ? 'never vacuumed' : `vacuumed ${lasting(ago)} ago`
          return `${name}: ${dead_count} dead, ${live_count} live, ${vacuumed}`
        }),
      },
    ),
  ]
}
