import { call, type Sql } from '../../sql/sql.ts'
import { statement, type ValuesOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { decodeExecution, executionColumns, executionJoins, executionRow, type Execution } from './snapshot.ts'

const describeStatement = statement({
  name: 'execution.describe',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: executionRow,
  text: `
select ${executionColumns}
from flowfabric.ff_exec_core e
${executionJoins}
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

/** The call for a larger read. */
export function describeCall(target: ValuesOf<typeof describeStatement.params>) {
  return call(describeStatement, target)
}

export async function describe(sql: Sql, caller: Caller, executionId: string): Promise<Execution | null> {
  const [row] = await sql.query(describeStatement, visibleExecution(caller, executionId))
  return row === undefined ? null : decodeExecution(row)
}
