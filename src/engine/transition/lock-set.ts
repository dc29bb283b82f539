// The first statement of a transaction that decides in this process. It locks executions in the order of their ids, and passes
// over those that another transaction has locked. All rows of an execution are written under this lock, so later statements of
// the transaction see their current state.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

const lockSet = statement({
  name: 'execution.lock-set',
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid' },
  text: `
select e.execution_id
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
order by i.execution_id
for no key update of e skip locked`,
})

/** Returns the executions that it has locked. */
export function lockSetCall(uuids: readonly string[]) {
  return call(lockSet, { execution_ids: uuids })
}
