// The log's blocks: partitions of `ff_event` by ranges of `event_id`. A duty creates them ahead. A write that finds none fails
// with 23514; its sender creates the block and sends the write again, so the engine works where no duty runs.
// Functions of the schema create and drop blocks with the rights of the log's owner.
import { EngineError } from '../../model/errors.ts'
import { databaseErrorOf } from './failure.ts'
import { sqlState } from '../../sql/errors.ts'
import { statement } from '../../sql/statement.ts'
import type { Queries, Sql } from '../../sql/sql.ts'

export const defaultBlockSize = 10_000_000

/** The ids from `first` up to, and without, `end`. The block that came with the schema has no lower bound: it begins at 1. */
export interface LogBlock {
  readonly first: number
  readonly end: number
}

export interface Log {
  /** In the order of their ids. */
  readonly blocks: readonly LogBlock[]
  readonly nextId: number
}

const readBlocks = statement({
  name: 'event.blocks',
  params: {},
  row: { next_id: 'int8', firsts: 'int8[]', ends: 'int8[]' },
  text: `
with block as materialized (
  select coalesce(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''?(\\d+)')::int8, 1) as first_id,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''?(\\d+)')::int8 as end_id
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'flowfabric.ff_event'::regclass
)
select last_value + is_called::int as next_id,
  array(select first_id from block order by first_id) as firsts,
  array(select end_id from block order by first_id) as ends
from flowfabric.ff_event_id`,
})

export async function readLog(sql: Queries): Promise<Log> {
  const [row] = await sql.query(readBlocks, {})
  const { next_id: nextId, firsts, ends } = row!
  const blocks = firsts.map((first, index) => ({ first, end: ends[index]! }))
  return { blocks, nextId }
}

// By its fields, because the sentence is translated on a server that speaks another language; a constraint would be named.
export function lacksEventBlock(error: unknown): boolean {
  if (sqlState(error) !== '23514') return false
  const { table, constraint } = error as { table?: unknown; constraint?: unknown }
  return table === 'ff_event' && constraint === undefined
}

const making = new WeakMap<Sql, Promise<void>>()

/** Creates the block for the next event; one attempt at a time serves the whole process. */
export function ensureEventBlock(sql: Sql): Promise<void> {
  const underWay = making.get(sql)
  if (underWay !== undefined) return underWay
  const attempt = makeNextBlock(sql).finally(() => making.delete(sql))
  making.set(sql, attempt)
  return attempt
}

async function makeNextBlock(sql: Sql): Promise<void> {
  try {
    const log = await readLog(sql)
    await makeBlock(sql, log, log.nextId, defaultBlockSize)
  } catch (error) {
    const sentence = 'the event log is full, and its next block could not be created'
    throw asBlockError(sentence, error, 'the next write creates the block')
  }
}

const makeStatement = statement({
  name: 'event.make-block',
  params: { first: 'int8', end: 'int8' },
  row: {},
  text: 'select from flowfabric.ff_make_event_block($1, $2)',
})

/** Creates the block for an id, unless it exists. */
export async function makeBlock(sql: Sql, { blocks }: Log, eventId: number, size: number): Promise<boolean> {
  if (blocks.some((block) => eventId >= block.first && eventId < block.end)) return false
  const [first, end] = rangeAround(blocks, eventId, size)
  try {
    await sql.query(makeStatement, { first, end })
    return true
  } catch (error) {
    if (isMadeByAnother(error)) return false
    throw error
  }
}

// As many blocks as needed after the last one before the id, and no further than the next one after it.
function rangeAround(blocks: readonly LogBlock[], eventId: number, size: number): [first: number, end: number] {
  const start = Math.max(1, ...blocks.filter((block) => block.end <= eventId).map((block) => block.end))
  const limit = Math.min(...blocks.filter((block) => block.first > eventId).map((block) => block.first))
  const first = start + Math.floor((eventId - start) / size) * size
  return [first, Math.min(first + size, limit)]
}

// Two processes may reach the end of a block at once; the second finds that the table, its type or the range exists.
function isMadeByAnother(error: unknown): boolean {
  return ['42P07', '42P17', '42710', '23505'].includes(sqlState(databaseErrorOf(error)) ?? '')
}

/** No item is at fault: these are internal errors, for which no set is halved. */
export function asBlockError(sentence: string, error: unknown, afterwards: string): EngineError {
  const cause = databaseErrorOf(error)
  if (sqlState(cause) === '42501') {
    const next = `as the owner of the tables, run flowfabric migrate --grant-to with the name of this role. Then ${afterwards}`
    return new EngineError('database_right_missing', `${sentence}: ${next}`, {}, { cause })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new EngineError('contended', `${sentence}: ${message}; try again`, {}, { cause })
}
