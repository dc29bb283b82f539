// Delays that are over: the execution becomes eligible and gets a ready row. Its attempt and its interruption do not change.
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { releaseCall } from '../kernel/due.ts'
import type { DutySet } from '../kernel/run-duty.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { timerDuty } from './timer-duty.ts'

const name = 'delayed-promoter'

const promote = statement({
  name: `duty.${name}`,
  params: { execution_ids: 'uuid[]' },
  row: { queue_id: 'int4' },
  text: `
with target as materialized (
  select e.execution_id, e.delay_until_ms, k.now_ms
  from unnest($1::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
),
promoted as (
  update flowfabric.ff_exec_core e
  set eligibility_state = 'eligible_now',
    delay_until_ms = null,
    last_mutation_at_ms = greatest(t.now_ms, e.last_mutation_at_ms)
  from target t
  where e.execution_id = any (array[t.execution_id]) and t.delay_until_ms <= t.now_ms
  returning e.execution_id, e.queue_id, e.priority, e.rank, e.public_state
)
insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
select queue_id, -priority, public_state = 'resumable', rank, execution_id
from promoted
returning queue_id`,
})

export const delayedPromoter = timerDuty({
  name,
  timer: { column: 'ff_exec_core.delay_until_ms', passes: '<=' },
  intervalMs: 1000,
  act: promoteDue,
})

async function promoteDue(sql: Sql, uuids: readonly string[]): Promise<DutySet> {
  const [promoted] = await sql.decide([lockSetCall(uuids)], ([locked]) => {
    const ids = locked.map((row) => row.execution_id)
    return [call(promote, { execution_ids: ids }), releaseCall(name, ids)] as const
  })
  const readyQueueIds = [...new Set(promoted.map((row) => row.queue_id))]
  return { seen: uuids.length, processed: promoted.length, effects: { readyQueueIds } }
}
