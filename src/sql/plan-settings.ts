// Plans are pinned: every statement here is written for index scans in nested loops, and these settings make the
// planner use them.
//
// Without them the planner plans for the table as it is. On a young database a full scan of a page is the cheapest
// plan. The prepared statement keeps that plan, and still runs it when the page has become a million rows, until the
// statistics are updated, which never happens on the embedded database. Compilation (jit) costs more than it saves on
// statements of this kind (measured: 42 ms with, 5 ms without, at a million rows).
//
// The planner may also walk an index from end to end, in its order or because it has every column that is read, and
// compare each entry. On a table that a vacuum found empty, as the ready rows and leases are after a busy hour, that
// seems as cheap as a lookup, and the plan is kept until the next vacuum (measured: 215 such walks in the engine's
// statements). So index-only scans are off, and the statements give no reason to read in an index's order: a row is
// looked up by its key as `key = any (array[other.key])`, which cannot be merged on, and locks are taken in the order
// of the other's key. It costs nothing that could be measured.
//
// Nor may the planner choose between a table's key and an index of its timers or its order: where a vacuum has found
// hardly a row, both seem equally cheap. Such an index has a predicate that every row satisfies, and serves only
// statements that state it (`sql/migrations/0001-foundation.sql`).
//
// A statement that needs a scan or a hash (an audit over everything) sets `scanningAllowed`.
import { statement } from './statement.ts'

const pinned = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_indexonlyscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
] as const

// Starting parallel workers for a page of ten rows costs more than the page itself. And a plan is made once: planned
// anew for each call, as the planner would do where the length of an array promises fewer rows, a single create takes
// twice as long (measured).
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

/** Within a transaction, where a pooler does not keep the settings of a session. */
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
