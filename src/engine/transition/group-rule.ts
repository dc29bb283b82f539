// The rules of `model/edge-group.ts` in SQL.

/** What an ending makes of an edge, from the columns of its kind and of the upstream's outcome. */
export function edgeResolution(kind: string, outcome: string): string {
  return `case
      when ${kind} = 'optional'
        or ${kind} = 'success_only' and ${outcome} = 'success'
        or ${kind} = 'start' and ${outcome} = 'none'
        or ${kind} = 'on_failure' and ${outcome} not in ('success', 'skipped')
        then 'satisfied'::flowfabric.ff_edge_resolution
      when ${kind} = 'on_failure' or ${outcome} = 'skipped' then 'skipped'::flowfabric.ff_edge_resolution
      else 'failed'::flowfabric.ff_edge_resolution
    end`
}

export interface GroupColumns {
  readonly quorum: string
  readonly total: string
  readonly satisfied: string
  readonly failed: string
  readonly skipped: string
  readonly isSealed: string
}

/** Where a group stands that has not fired. */
export function groupState({ quorum, total, satisfied, failed, skipped, isSealed }: GroupColumns): string {
  return `case
      when ${quorum} is null and ${failed} + ${skipped} > 0 then 'impossible'::flowfabric.ff_group_state
      when ${satisfied} >= coalesce(${quorum}, ${total}) then 'satisfied'::flowfabric.ff_group_state
      when ${isSealed} and ${failed} + ${skipped} > ${total} - ${quorum} then 'impossible'::flowfabric.ff_group_state
      else 'pending'::flowfabric.ff_group_state
    end`
}
