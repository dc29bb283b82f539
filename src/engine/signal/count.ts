// How many signals an execution has received, by the waitpoint through which they came. Asked once for each execution of a
// set, because each may have thousands.
import { call } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { targetParams, targets } from '../suspension/facts.ts'

const countStatement = statement({
  name: 'signal.count',
  params: targetParams,
  row: { execution_id: 'uuid', waitpoint_id: 'uuid?', signal_count: 'int8' },
  text: `
select i.execution_id, c.waitpoint_id, c.signal_count
from ${targets}
cross join lateral (
  select g.waitpoint_id, count(*) as signal_count
  from flowfabric.ff_signal g
  where g.execution_id = i.execution_id
  group by g.waitpoint_id
  offset 0
) c`,
})

export function countCall(executionUuids: readonly string[], waitpointUuids: readonly string[]) {
  return call(countStatement, { execution_ids: executionUuids, waitpoint_ids: waitpointUuids })
}

/** By the waitpoint's uuid, or null for those that came by name. */
export type ReceivedCounts = ReadonlyMap<string | null, number>

/** By the execution's uuid. */
export function countsOf(rows: readonly RowOf<typeof countStatement.row>[]): ReadonlyMap<string, ReceivedCounts> {
  const counts = new Map<string, Map<string | null, number>>()
  for (const { execution_id: uuid, waitpoint_id: waitpoint, signal_count: count } of rows) {
    const own = counts.get(uuid)
    if (own === undefined) counts.set(uuid, new Map([[waitpoint, count]]))
    else own.set(waitpoint, count)
  }
  return counts
}
