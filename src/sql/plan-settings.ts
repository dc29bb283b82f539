// Plans are pinned: every statement here is written for index scans in nested loops, and the planner is told so.
//
// Left to itself it plans for the table that it sees. On a young database a full scan of a page is the cheapest plan of
// all; it is then kept with the prepared statement, and still runs when that page has become a million rows, until a
// statistics run comes by, which on the embedded database never happens. Compilation (jit) costs more than it gives on
// statements of this kind (measured: 42 ms with, 5 ms without, at a million rows).
//
// A statement that wants a scan or a hash (an audit over everything) says so itself, with `scanningAllowed`.
const pinned = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
] as const

const settings = ['jit', ...pinned]

/** At the start of a connection. */
export const planOptions: string = settings.map((name) => `-c ${name}=off`).join(' ')

/** On a connection that is already open, and ours alone. */
export const planSession: string = settings.map((name) => `set ${name} = off`).join('; ')

/** Within a transaction, where a pooler does not keep what a session sets. */
export const planLocally: string = settings.map((name) => `set local ${name} = off`).join('; ')

/** For the rest of a transaction. */
export const scanningAllowed: string = pinned.map((name) => `set local ${name} = on`).join('; ')
