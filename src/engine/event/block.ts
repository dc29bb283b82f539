// The log's blocks: partitions of `ff_event` by ranges of `event_id`. A write that finds no block fails with 23514; its
// sender makes the block and sends the write again, so that the engine goes on where nothing makes blocks ahead.
import { EngineError } from '../../model/errors.ts'
import { sqlState } from '../../sql/errors.ts'
import { statement } from '../../sql/statement.ts'
import type { Sql } from '../../sql/sql.ts'

export const blockSize = 10_000_000

const nextEventId = statement({
  name: 'event.next-id',
  params: {},
  row: { event_id: 'int8' },
  text: `
select last_value + 1 as event_id
from flowfabric.ff_event_id`,
})

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
  const attempt = makeBlock(sql).finally(() => making.delete(sql))
  making.set(sql, attempt)
  return attempt
}

// Create and attach, under a short lock timeout: `partition of` would take a lock that stops every writer, and a lock
// queued behind a long reader would do the same.
async function makeBlock(sql: Sql): Promise<void> {
  try {
    const [next] = await sql.query(nextEventId, {})
    const first = Math.floor((next!.event_id - 1) / blockSize) * blockSize + 1
    const block = `flowfabric.ff_event_${first}`
    await sql.transaction(async (tx) => {
      await tx.script(`
set local lock_timeout = '2s';
create table ${block} (like flowfabric.ff_event including defaults including constraints);
alter table ${block} add constraint ff_event_${first}_range check (event_id >= ${first} and event_id < ${first + blockSize});
alter table flowfabric.ff_event attach partition ${block} for values from (${first}) to (${first + blockSize});
alter table ${block} drop constraint ff_event_${first}_range`)
    })
  } catch (error) {
    if (!isMadeByAnother(error)) throw withoutBlock(error)
  }
}

// Two processes meet the end of a block at once; the second finds the table, its type, or the range taken.
function isMadeByAnother(error: unknown): boolean {
  return ['42P07', '42P17', '42710', '23505'].includes(sqlState(error) ?? '')
}

// Nobody's item is at fault, so these are errors of ours, which no set is halved for.
function withoutBlock(cause: unknown): EngineError {
  const sentence = 'the log is full up to its last block, and the next one could not be made'
  if (sqlState(cause) === '42501') {
    const next = 'only the owner of the tables may; connect once as that role, and it is made at the next write'
    return new EngineError('database_right_missing', `${sentence}: ${next}`, {}, { cause })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new EngineError('contended', `${sentence}: ${message}; try again`, {}, { cause })
}
