// Plans are pinned: every statement here is written for index scans in nested loops, and the planner is told so.
//
// Left to itself it plans for the table that it sees. On a young database a full scan of a page is the cheapest plan of
// all; it is then kept with the prepared statement, and still runs when that page has become a million rows, until a
// statistics run comes by, which on the embedded database never happens. Compilation (jit) costs more than it gives on
// statements of this kind (measured: 42 ms with, 5 ms without, at a million rows).
//
// The planner may also walk an index from end to end, in its order or because it has every column that is wanted, and
// compare each entry: on a table that a vacuum found empty, as the ready rows and leases are after a busy hour, that looks
// as cheap as a lookup, and the plan is kept until the next vacuum (measured: 215 such walks in the engine's statements).
// So index-only scans are off, and the statements give no reason to read in an index's order: a row is looked up by its key
// as `key = any (array[other.key])`, which cannot be merged on, and locks are taken in the order of the other's key. It
// costs nothing that could be measured.
//
// Nor may the planner choose between a table's key and an index of its timers or its order: where a vacuum has found hardly a
// row, they look alike. Such an index has a predicate that every row satisfies, and serves only statements that state it
// (`sql/migrations/0001-foundation.sql`).
//
// A statement that wants a scan or a hash (an audit over everything) says so itself, with `scanningAllowed`.
import { statement } from './statement.ts'

const pinned = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_indexonlyscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
] as const

// Workers that start for a page of ten rows cost more than it does. And a plan is made once: planned anew for each call, as
// the planner would have it where the length of an array promises fewer rows, a single create takes twice as long (measured).
const settings = [
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'plan_cache_mode=force_generic_plan',
  ...pinned.map((name) => `${name}=off`),
]

/** At the start of a connection. */
export const planOptions: string = settings.map((setting) => `-c ${setting}`).join(' ')

/** On a connection that is already open, and ours alone. */
export const planSession: string = settings.map((setting) => `set ${setting}`).join('; ')

/** Within a transaction, where a pooler does not keep what a session sets. */
export const planLocally = statement({
  name: 'sql.plan_locally',
  params: {},
  row: { done: 'bool' },
  text: `select ${settings.map(inTransaction).join(' and ')} as done`,
})

function inTransaction(setting: string): string {
  const [name, value] = setting.split('=')
  return `set_config('${name}', '${value}', true) is not null`
}

/** For the rest of a transaction. */
export const scanningAllowed: string = pinned.map((name) => `set local ${name} = on`).join('; ')
