// The log's blocks: the next one is created when the last is half full, so that no write has to; and the oldest are dropped
// when the newest of their events is older than the retention of the log.
//
// A block is detached and dropped in one transaction, which locks the log exclusively for a moment. It gives up soon if another
// transaction reads or writes the log for long, because later ones would wait behind its lock request. So no writer is running
// when the block is dropped, and no later event can get an id in it. (`detach concurrently` would never block others, but it
// leaves a block half detached when it is interrupted, and it cannot run in a transaction, which behind a pooler is the
// only place for a lock timeout.) The last block with events stays, and so do all after it.
import { sqlState } from '../../sql/errors.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { asBlockError, defaultBlockSize, makeBlock, readLog, type LogBlock, type Log } from '../kernel/log-block.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import { scopeOf } from '../kernel/scope.ts'

export interface LogBlocksOptions {
  readonly keptForMs: number
  /** How many events a new block takes. */
  readonly blockSize?: number
}

const name = 'log-blocks'

/** A run creates one block at most, and drops one at most. */
export function logBlocks({ keptForMs, blockSize = defaultBlockSize }: LogBlocksOptions): Duty {
  return {
    name,
    intervalMs: 60_000,
    isOfDatabase: true,
    async runOnce(sql, options = {}) {
      scopeOf(options)
      const log = await readLog(sql).catch((error: unknown) => {
        throw asEngineError(error)
      })
      const made = await makeAhead(sql, log, blockSize)
      const dropped = await dropOldest(sql, log, keptForMs)
      return { processed: Number(made) + Number(dropped), errors: 0, isFull: dropped, effects: noEffects }
    },
  }
}

async function makeAhead(sql: Sql, log: Log, blockSize: number): Promise<boolean> {
  const current = log.blocks.find((block) => log.nextId >= block.first && log.nextId < block.end)
  const isRoomy = current !== undefined && log.nextId - current.first < (current.end - current.first) / 2
  if (isRoomy) return false
  try {
    return await makeBlock(sql, log, current?.end ?? log.nextId, blockSize)
  } catch (error) {
    throw asBlockError('the next block of the event log could not be created', error, 'the next run creates it')
  }
}

// The newest event of the block before an id, and whether later events exist. The ids of one block ascend with time, apart from
// the duration of a transaction, which is negligible beside the days that a log is kept.
const readAge = statement({
  name: 'event.block-age',
  params: { first: 'int8', end: 'int8', kept_for_ms: 'int8' },
  row: { is_past: 'bool' },
  text: `
select coalesce((
    select e.occurred_at_ms < flowfabric.ff_now_ms() - $3
    from flowfabric.ff_event e
    where e.event_id >= $1 and e.event_id < $2
    order by e.event_id desc
    limit 1), true)
  and exists (
    select from flowfabric.ff_event e
    where e.event_id >= $2) as is_past`,
})

async function dropOldest(sql: Sql, { blocks, nextId }: Log, keptForMs: number): Promise<boolean> {
  const [oldest] = blocks
  if (oldest === undefined || oldest.end > nextId) return false
  try {
    const { first, end } = oldest
    const [row] = await sql.query(readAge, { first, end, kept_for_ms: keptForMs })
    return row!.is_past && (await drop(sql, oldest))
  } catch (error) {
    throw asBlockError('the oldest block of the event log could not be dropped', error, 'the next run drops it')
  }
}

const dropStatement = statement({
  name: 'event.drop-block',
  params: { end: 'int8' },
  row: { dropped: 'bool' },
  text: 'select flowfabric.ff_drop_event_block($1) as dropped',
})

/** False when another process has dropped it first. */
async function drop(sql: Sql, { end }: LogBlock): Promise<boolean> {
  try {
    const [row] = await sql.query(dropStatement, { end })
    return row!.dropped
  } catch (error) {
    if (sqlState(error) === '42P01') return false
    throw error
  }
}
