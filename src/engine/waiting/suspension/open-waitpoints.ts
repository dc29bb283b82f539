// The waitpoints of a suspension: fresh ones are created, earlier ones become active, or close when the condition is
// satisfied at once. Earlier signals through them count for the suspension from now on.
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import { waitingAt } from '../../transition/untaken-signals.ts'
import type { NewlySuspended } from './evaluate.ts'

const openStatement = statement({
  name: 'suspension.open-waitpoints',
  params: {
    waitpoint_ids: 'uuid[]',
    execution_ids: 'uuid[]',
    suspension_ids: 'uuid[]',
    opened_ats_ms: 'int8[]',
    partition_keys: 'int2[]',
    keys: 'text[]',
    kids: 'text[]',
    required_names: 'jsonb[]',
    are_fresh: 'bool[]',
  },
  row: {},
  text: `
with waitpoint as materialized (
  select i.*, array(select jsonb_array_elements_text(i.required_names)) as names
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[], $5::int2[], $6::text[], $7::text[], $8::jsonb[], $9::bool[])
    as i (waitpoint_id, execution_id, suspension_id, opened_at_ms, partition_key, waitpoint_key, kid, required_names,
      is_fresh)
),
activated as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'active', suspension_id = d.suspension_id, activated_at_ms = d.opened_at_ms, expires_at_ms = null,
    required_signal_names = d.names
  from waitpoint d
  where not d.is_fresh and p.waitpoint_id = any (array[d.waitpoint_id])
),
early as materialized (
  select g.execution_id, g.signal_no, d.suspension_id
  from waitpoint d
  cross join lateral (${waitingAt('d')}
  ) g
  where not d.is_fresh
),
counted as (
  update flowfabric.ff_signal g
  set suspension_id = y.suspension_id
  from early y
  where g.execution_id = any (array[y.execution_id]) and g.signal_no = any (array[y.signal_no])
)
insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
  partition_key, state, waitpoint_key, token_kid, required_signal_names)
select waitpoint_id, execution_id, suspension_id, opened_at_ms, opened_at_ms, partition_key, 'active', waitpoint_key, kid,
  names
from waitpoint
where is_fresh`,
})

const closeStatement = statement({
  name: 'suspension.close-waitpoints',
  params: { waitpoint_ids: 'uuid[]', suspension_ids: 'uuid?[]', closed_ats_ms: 'int8[]', reasons: 'text[]' },
  row: {},
  text: `
update flowfabric.ff_waitpoint_pending p
set state = 'closed', suspension_id = i.suspension_id, closed_at_ms = i.closed_at_ms, close_reason = i.reason,
  expires_at_ms = null
from unnest($1::uuid[], $2::uuid[], $3::int8[], $4::text[]) as i (waitpoint_id, suspension_id, closed_at_ms, reason)
where p.waitpoint_id = any (array[i.waitpoint_id])`,
})

export function openWaitpointsCall(parked: readonly NewlySuspended[]) {
  const waitpoints = parked.flatMap(({ item, row, waitpoints: own }) =>
    own.map((waitpoint) => ({ item, row, waitpoint })),
  )
  return call(openStatement, {
    waitpoint_ids: waitpoints.map(({ waitpoint }) => waitpoint.uuid),
    execution_ids: waitpoints.map(({ item }) => item.uuid),
    suspension_ids: waitpoints.map(({ item }) => item.suspensionId),
    opened_ats_ms: waitpoints.map(({ row }) => row.now_ms),
    partition_keys: waitpoints.map(({ item }) => item.partition),
    keys: waitpoints.map(({ waitpoint }) => waitpoint.key),
    kids: waitpoints.map(({ waitpoint }) => waitpoint.kid),
    required_names: waitpoints.map(({ waitpoint }) => waitpoint.requiredNames),
    are_fresh: waitpoints.map(({ waitpoint }) => waitpoint.isFresh),
  })
}

export function closeWaitpointsCall(suspended: readonly NewlySuspended[]) {
  const waitpoints = suspended.flatMap(({ item, row, closing }) =>
    closing.map((waitpoint) => ({ item, row, waitpoint })),
  )
  return call(closeStatement, {
    waitpoint_ids: waitpoints.map(({ waitpoint }) => waitpoint.uuid),
    suspension_ids: waitpoints.map(({ item, waitpoint }) =>
      waitpoint.reason === 'resumed' ? item.suspensionId : null,
    ),
    closed_ats_ms: waitpoints.map(({ row }) => row.now_ms),
    reasons: waitpoints.map(({ waitpoint }) => waitpoint.reason),
  })
}
