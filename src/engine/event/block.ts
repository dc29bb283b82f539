// The log's blocks: partitions of `ff_event` by ranges of `event_id`. They are made ahead by a duty; a write that finds none
// fails with 23514, and its sender makes the block and sends the write again, so that the engine goes on where no duty runs.
import { EngineError } from '../../model/errors.ts'
import { sqlState } from '../../sql/errors.ts'
import { statement } from '../../sql/statement.ts'
import type { Queries, Sql } from '../../sql/sql.ts'

export const defaultBlockSize = 10_000_000

/** The ids from `first` up to, and without, `end`. The block that came with the schema has no lower bound: it begins at 1. */
export interface Block {
  /** Its table, as SQL names it. */
  readonly table: string
  readonly first: number
  readonly end: number
}

export interface Log {
  /** In the order of their ids. */
  readonly blocks: readonly Block[]
  readonly nextId: number
}

const readBlocks = statement({
  name: 'event.blocks',
  params: {},
  row: { next_id: 'int8', tables: 'text[]', firsts: 'int8[]', ends: 'int8[]' },
  text: `
with block as materialized (
  select c.relname::text as name,
    coalesce(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''?(\\d+)')::int8, 1) as first_id,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''?(\\d+)')::int8 as end_id
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'flowfabric.ff_event'::regclass
)
select last_value + is_called::int as next_id,
  array(select quote_ident(name) from block order by first_id) as tables,
  array(select first_id from block order by first_id) as firsts,
  array(select end_id from block order by first_id) as ends
from flowfabric.ff_event_id`,
})

export async function readLog(sql: Queries): Promise<Log> {
  const [row] = await sql.query(readBlocks, {})
  const { next_id: nextId, tables, firsts, ends } = row!
  const blocks = tables.map((table, index) => ({
    table: `flowfabric.${table}`,
    first: firsts[index]!,
    end: ends[index]!,
  }))
  return { blocks, nextId }
}

// By its fields, because the sentence is translated on a server that speaks another language; a constraint would be named.
export function lacksEventBlock(error: unknown): boolean {
  if (sqlState(error) !== '23514') return false
  const { table, constraint } = error as { table?: unknown; constraint?: unknown }
  return table === 'ff_event' && constraint === undefined
}

const making = new WeakMap<Sql, Promise<void>>()

/** Makes the block that the next event falls into; one attempt at a time serves the whole process. */
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
    const sentence = 'the log is full up to its last block, and the next one could not be made'
    throw asBlockError(sentence, error, 'it is made at the next write')
  }
}

/**
 * Makes the block that an id falls into, unless it is there. Create and attach, under a short lock timeout: `partition of`
 * would take a lock that stops every writer, and a lock queued behind a long reader would do the same.
 */
export async function makeBlock(sql: Sql, { blocks }: Log, eventId: number, size: number): Promise<boolean> {
  if (blocks.some((block) => eventId >= block.first && eventId < block.end)) return false
  const [first, end] = rangeAround(blocks, eventId, size)
  const name = `ff_event_${first}`
  const block = `flowfabric.${name}`
  try {
    await sql.transaction(async (tx) => {
      await tx.script(`
set local lock_timeout = '2s';
create table ${block} (like flowfabric.ff_event including defaults including constraints);
alter table ${block} add constraint ${name}_range check (event_id >= ${first} and event_id < ${end});
alter table flowfabric.ff_event attach partition ${block} for values from (${first}) to (${end});
alter table ${block} drop constraint ${name}_range`)
    })
    return true
  } catch (error) {
    if (isMadeByAnother(error)) return false
    throw error
  }
}

// As many blocks after the last one before it as it takes, and no further than the next one after it.
function rangeAround(blocks: readonly Block[], eventId: number, size: number): [first: number, end: number] {
  const start = Math.max(1, ...blocks.filter((block) => block.end <= eventId).map((block) => block.end))
  const limit = Math.min(...blocks.filter((block) => block.first > eventId).map((block) => block.first))
  const first = start + Math.floor((eventId - start) / size) * size
  return [first, Math.min(first + size, limit)]
}

// Two processes meet the end of a block at once; the second finds the table, its type, or the range taken.
function isMadeByAnother(error: unknown): boolean {
  return ['42P07', '42P17', '42710', '23505'].includes(sqlState(error) ?? '')
}

/** Nobody's item is at fault, so these are errors of ours, which no set is halved for. */
export function asBlockError(sentence: string, cause: unknown, afterwards: string): EngineError {
  if (sqlState(cause) === '42501') {
    const next = `only the owner of the tables may; connect once as that role, and ${afterwards}`
    return new EngineError('database_right_missing', `${sentence}: ${next}`, {}, { cause })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new EngineError('contended', `${sentence}: ${message}; try again`, {}, { cause })
}
