// The group of a member's inbound edges, as a reader sees it.
import type { GroupState, JoinPolicy } from '../../model/edge-group.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'

export interface EdgeGroup {
  readonly downstreamId: ExecutionId
  readonly policy: JoinPolicy
  readonly state: GroupState
  /** No more edges will come. */
  readonly isSealed: boolean
  readonly total: number
  readonly satisfied: number
  readonly failed: number
  readonly skipped: number
  /** Edges whose upstream has not ended, or is not resolved yet. */
  readonly running: number
  readonly firedAt: number | null
}

export interface GroupJson extends Omit<EdgeGroup, 'downstreamId' | 'running'> {
  readonly downstreamId: string
}

/** An `ff_edge_group g` as jsonb, to return it in the row of something else. */
export const groupJson = `jsonb_build_object('downstreamId', g.downstream_id, 'state', g.state, 'isSealed', g.is_sealed,
    'policy', jsonb_build_object('kind', g.policy, 'onSatisfied', g.on_satisfied)
      || case when g.policy = 'quorum' then jsonb_build_object('k', g.quorum) else '{}' end,
    'total', g.total, 'satisfied', g.satisfied, 'failed', g.failed, 'skipped', g.skipped, 'firedAt', g.fired_at_ms)`

export function decodeGroup(partition: number, group: GroupJson): EdgeGroup {
  const { total, satisfied, failed, skipped } = group
  return {
    ...group,
    downstreamId: formatExecutionId(partition, group.downstreamId),
    running: total - satisfied - failed - skipped,
  }
}
