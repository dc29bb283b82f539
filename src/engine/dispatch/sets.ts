// One set of what is owed to flows, in two forms, and one of the backlog of cancels, of the oldest; as the dispatcher takes them.
import type { Sql } from '../../sql/sql.ts'
import type { RowOf } from '../../sql/statement.ts'
import { untilSent } from '../resend.ts'
import { cancelBacklogged } from './cancel-backlog.ts'
import type { Dispatched } from './dispatched.ts'
import { owed } from './owed.ts'
import { resolvePlainDispatches } from './resolve-plain.ts'
import { resolveDispatches } from './resolve.ts'

// A flow that somebody holds for long may have more endings than these sets have room for: then others wait with it.
const mostPassedOver = 100

/**
 * By the plain form; what needs more than that is owed to the other. A set that is full of flows which others hold is passed
 * over for what stands behind it.
 */
export async function resolveFlows(sql: Sql, batch: number): Promise<Dispatched> {
  const passedOver = new Set<string>()
  for (;;) {
    const [row] = await untilSent(sql, { again: false }, () =>
      sql.query(resolvePlainDispatches, { batch, passed_over: [...passedOver] }),
    )
    const { seen, processed, held_flow_ids: held } = row!
    const isFullOfHeld = seen >= batch && processed === 0 && held.length > 0 && passedOver.size < mostPassedOver
    if (!isFullOfHeld) return resolved(row!, passedOver.size > 0)
    for (const id of held) passedOver.add(id)
  }
}

function resolved(row: RowOf<typeof resolvePlainDispatches.row>, hasPassedOver: boolean): Dispatched {
  const { processed: done, ready_queue_ids: readyQueueIds, shortest_delay_ms: delayMs, needs_more: needsMore } = row
  const owes = (needsMore ? owed.moreOfFlow : 0) | (row.is_cut_short ? owed.flow : 0)
  // Whatever is left is the other form's then, be it held or one of many.
  const seen = (needsMore ? done : row.seen) + (hasPassedOver ? 1 : 0)
  return { seen, done, readyQueueIds, delayMs, backlogged: 0, owes, endedFlowIds: row.ended_flow_ids }
}

/** Whatever it takes. */
export async function resolveMoreOfFlows(sql: Sql, batch: number): Promise<Dispatched> {
  const [row] = await untilSent(sql, { again: false }, () => sql.query(resolveDispatches, everything(batch)))
  const { seen, processed: done, ready_queue_ids: readyQueueIds, backlogged, shortest_delay_ms: delayMs } = row!
  // A skip is likely to skip others.
  const owes = (row!.owes & owed.flow) === 0 ? row!.owes : (row!.owes & ~owed.flow) | owed.moreOfFlow
  return { seen, done, readyQueueIds, delayMs, backlogged, owes, endedFlowIds: row!.ended_flow_ids }
}

export async function endBacklogged(sql: Sql, batch: number): Promise<Dispatched> {
  const [row] = await untilSent(sql, { again: false }, () => sql.query(cancelBacklogged, everything(batch)))
  const { seen, processed: done, owes, called_off_ids: calledOffIds } = row!
  return { seen, done, readyQueueIds: [], delayMs: null, backlogged: 0, owes, calledOffIds }
}

function everything(batch: number) {
  return { batch, namespace: null, tag_key: null, tag_value: null, only: [] }
}
