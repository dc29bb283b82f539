// Returns whether an execution could be claimed, and what prevents it. Upstreams that have ended are counted even before
// the resolver has processed them.
import {
  groupState,
  resolveEdge,
  type Ending,
  type GroupCounts,
  type JoinPolicy,
  type StoredEdgeKind,
} from '../../model/edge-group.ts'
import type { EligibilityState, LifecyclePhase, PublicState, TerminalOutcome } from '../../model/state.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { decodeGroup, groupJson, type EdgeGroup, type GroupJson } from './edge-group.ts'

export type Eligibility =
  | { readonly kind: 'eligible' }
  | { readonly kind: 'not_found' }
  /** It runs or is suspended. */
  | { readonly kind: 'not_runnable'; readonly publicState: PublicState }
  | { readonly kind: 'terminal'; readonly outcome: Ending }
  /** Granted to one worker instance, which alone may claim it until then. */
  | { readonly kind: 'owned'; readonly workerInstanceId: string; readonly until: number }
  /** Something other than an edge blocks it; until when, if a clock decides. */
  | { readonly kind: 'held'; readonly by: EligibilityState; readonly until: number | null }
  | { readonly kind: 'blocked_by_dependencies'; readonly group: EdgeGroup | null }
  /** Its group can no longer be satisfied: it will be skipped. */
  | { readonly kind: 'impossible'; readonly group: EdgeGroup }

const readEligibility = statement({
  name: 'flow.eligibility',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: {
    lifecycle_phase: oneOf<LifecyclePhase>(),
    eligibility_state: oneOf<EligibilityState>(),
    terminal_outcome: oneOf<TerminalOutcome>(),
    public_state: oneOf<PublicState>(),
    delay_until_ms: 'int8?',
    worker_instance_id: 'text?',
    granted_until_ms: 'int8?',
    edge_group: 'jsonb?',
    unresolved: 'jsonb?',
  },
  text: `
select e.lifecycle_phase, e.eligibility_state, e.terminal_outcome, e.public_state, e.delay_until_ms,
  t.worker_instance_id, t.expires_at_ms as granted_until_ms,
  case when g.downstream_id is not null then ${groupJson} end as edge_group, x.unresolved
from flowfabric.ff_exec_core e
left join flowfabric.ff_grant t
  on t.execution_id = any (array[e.execution_id]) and t.expires_at_ms > flowfabric.ff_now_ms()
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[e.execution_id])
left join lateral (
  select jsonb_agg(jsonb_build_array(x.kind, x.terminal_outcome, x.edge_count)) as unresolved
  from (
    select x.kind, u.terminal_outcome, count(*) as edge_count
    from flowfabric.ff_edge x
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where x.downstream_id = any (array[e.execution_id]) and x.resolution is null and u.lifecycle_phase = 'terminal'
    group by x.kind, u.terminal_outcome
  ) x
) x on e.eligibility_state = 'blocked_by_dependencies'
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

/** Edges whose upstream has ended, and which the resolver has not processed yet. */
type Unresolved = readonly (readonly [kind: StoredEdgeKind, outcome: Ending, count: number])[]

export async function eligibility(sql: Sql, caller: Caller, executionId: string): Promise<Eligibility> {
  const execution = visibleExecution(caller, executionId)
  const [row] = await sql.query(readEligibility, execution)
  return row === undefined ? { kind: 'not_found' } : eligibilityOf(execution.partition_key, row)
}

function eligibilityOf(partition: number, row: RowOf<typeof readEligibility.row>): Eligibility {
  if (row.terminal_outcome !== 'none') return { kind: 'terminal', outcome: row.terminal_outcome }
  if (row.lifecycle_phase !== 'runnable') return { kind: 'not_runnable', publicState: row.public_state }
  const by = row.eligibility_state
  if (by === 'blocked_by_dependencies') {
    const group = row.edge_group === null ? null : decodeGroup(partition, row.edge_group as GroupJson)
    return eligibilityOfGroup(group, (row.unresolved ?? []) as Unresolved)
  }
  if (by !== 'eligible_now') return { kind: 'held', by, until: row.delay_until_ms }
  const { worker_instance_id: workerInstanceId, granted_until_ms: until } = row
  return workerInstanceId === null ? { kind: 'eligible' } : { kind: 'owned', workerInstanceId, until: until! }
}

// A member that represents a flow has no group if it has no upstreams; it waits for that flow.
function eligibilityOfGroup(group: EdgeGroup | null, unresolved: Unresolved): Eligibility {
  if (group === null) return { kind: 'blocked_by_dependencies', group }
  const isLost = group.state === 'pending' ? stateWith(group.policy, group, unresolved) : group.state
  return { kind: isLost === 'impossible' ? 'impossible' : 'blocked_by_dependencies', group }
}

function stateWith(policy: JoinPolicy, found: GroupCounts, unresolved: Unresolved) {
  const counts = { ...found }
  for (const [kind, outcome, count] of unresolved) counts[resolveEdge(kind, outcome)] += count
  return groupState(policy, counts)
}
