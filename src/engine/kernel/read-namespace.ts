// The namespace of an execution that the caller may see.
import { statement } from '../../sql/statement.ts'

export const readNamespace = statement({
  name: 'execution.get-namespace',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { namespace: 'text' },
  text: `
select namespace
from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)`,
})
