// The ids of the event log, and its blocks: the partitions of its table.
import type { Queries } from '../../src/sql/sql.ts'
import { rows } from './raw.ts'
import { events } from './tables/operation.ts'

/** Sets the id of the next event. */
export function moveLog(sql: Queries, nextId: number): Promise<void> {
  return sql.script(`select setval('flowfabric.ff_event_id', ${nextId}, false)`)
}

/** Draws an id that no event has, like a transaction that failed. */
export async function loseEventId(sql: Queries): Promise<void> {
  await rows(sql, `select nextval('flowfabric.ff_event_id')`)
}

/** Whether a statement has drawn an id for an event, committed or not. */
export async function isEventIdDrawn(sql: Queries): Promise<boolean> {
  const [row] = await rows(sql, 'select is_called from flowfabric.ff_event_id')
  return row!['is_called'] as boolean
}

/** The number in the name of each block and its ids, from the oldest to the newest: `1: MINVALUE to 10000001`. */
export async function logBlocksOf(sql: Queries): Promise<string[]> {
  const found = await rows(
    sql,
    `select replace(c.relname, '${events.name}_', '') as name,
       substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\((.*)\\) TO') as first,
       substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\((.*)\\)') as until
     from pg_inherits i
     join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${events.qualified}'::regclass
     order by c.oid`,
  )
  return found.map((row) =>
    `${row['name'] as string}: ${row['first'] as string} to ${row['until'] as string}`.replaceAll("'", ''),
  )
}

export function addBlock(sql: Queries, first: number, end: number): Promise<void> {
  return sql.script(
    `create table ${blockNamed(first)} partition of ${events.qualified} for values from (${first}) to (${end})`,
  )
}

/** Deletes the block that begins with this id. */
export function dropBlock(sql: Queries, first: number): Promise<void> {
  return sql.script(`drop table ${blockNamed(first)}`)
}

function blockNamed(first: number): string {
  return `${events.qualified}_${first}`
}

/** Adds so many events of random executions. */
export const addEvents = (count: number) => `
  insert into ${events.qualified} (occurred_at_ms, execution_id, event_type, partition_key, namespace, actor)
  select 0, gen_random_uuid(), 'renewed', 0, 'default', 'test' from generate_series(1, ${count})`
