// The log's blocks: partitions of `ff_event` by ranges of `event_id`. A write that finds no block fails with 23514; its
// sender makes the block and sends the write again, so that the engine goes on where nothing makes blocks ahead.
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

/**
 * Makes the block that the next event falls into. Create and attach, under a short lock timeout: `partition of` would
 * take a lock that stops every writer, and a lock queued behind a long reader would do the same.
 */
export async function ensureEventBlock(sql: Sql): Promise<void> {
  const [next] = await sql.query(nextEventId, {})
  const first = Math.floor((next!.event_id - 1) / blockSize) * blockSize + 1
  const block = `flowfabric.ff_event_${first}`
  try {
    await sql.transaction(async (tx) => {
      await tx.script(`
set local lock_timeout = '2s';
create table ${block} (like flowfabric.ff_event including defaults including constraints);
alter table ${block} add constraint ff_event_${first}_range check (event_id >= ${first} and event_id < ${first + blockSize});
alter table flowfabric.ff_event attach partition ${block} for values from (${first}) to (${first + blockSize});
alter table ${block} drop constraint ff_event_${first}_range`)
    })
  } catch (error) {
    if (!isMadeByAnother(error)) throw error
  }
}

// Two processes meet the end of a block at once; the second finds the table, or the range, taken.
function isMadeByAnother(error: unknown): boolean {
  const state = sqlState(error)
  return state === '42P07' || state === '42P17' || state === '23505'
}
