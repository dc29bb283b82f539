// Ended flows from the database, beside the model's results for their members and edges.
import { expect } from 'vitest'
import { flowOutcome, skipReasons, type EndedFlow } from '../../../src/model/flow-ending.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { rows, type Row } from '../../support/raw.ts'

/** Every flow of this tree that has ended and was not cancelled. */
export async function compareWithModel(sql: Sql, root: string): Promise<void> {
  for (const row of await rows(sql, endedFlows(root))) {
    const flow = flowOf(row)
    expect(row['outcome'], `flow ${row['flow_id'] as string}`).toBe(flowOutcome(flow))
    const found = (row['members'] as { id: string; ending: string; reason: string | null }[])
      .filter(({ ending }) => ending === 'skipped')
      .map(({ id, reason }) => [id, reason] as const)
    expect(new Map(found)).toEqual(skipReasons(flow, row['is_struck'] === true))
  }
}

function flowOf({ members, edges, joins }: Row): EndedFlow {
  return { members, edges, joins } as unknown as EndedFlow
}

const endedFlows = (root: string) => `
select f.flow_id, f.outcome, s.terminal_outcome = 'skipped' and s.failure_reason = 'dependency_failed' as is_struck,
  (
    select jsonb_agg(jsonb_build_object('id', e.execution_id, 'ending', e.terminal_outcome, 'reason', e.failure_reason))
    from flowfabric.ff_exec_core e
    where e.flow_id = f.flow_id
  ) as members,
  (
    select coalesce(jsonb_agg(jsonb_build_object('upstreamId', x.upstream_id, 'downstreamId', x.downstream_id, 'kind', x.kind,
      'resolution', x.resolution)), '[]')
    from flowfabric.ff_edge x
    where x.flow_id = f.flow_id and x.kind <> 'start'
  ) as edges,
  (
    select coalesce(jsonb_agg(jsonb_build_object('downstreamId', g.downstream_id, 'isSatisfied', g.state = 'satisfied',
      'quorum', g.quorum)), '[]')
    from flowfabric.ff_edge_group g
    where g.flow_id = f.flow_id
  ) as joins
from flowfabric.ff_flow_core f
left join flowfabric.ff_exec_core s on s.execution_id = f.member_id
where f.root_flow_id = '${root}' and f.ended_at_ms is not null and f.cancelled_at_ms is null`
