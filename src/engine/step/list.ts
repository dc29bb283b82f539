// The steps of an execution's current generation, in the order in which they were recorded.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { parseExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'
import { beforeFirst, decodeStep, stepColumns, stepRow, type Step } from './step.ts'

export interface ListStepsRequest {
  /** Up to 10,000, which are all that there can be, 64 MiB of them at most. Nought is an empty page; 50 when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

export interface StepPage {
  readonly steps: readonly Step[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'step.list',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', after: 'int8', limit: 'int8' },
  row: stepRow,
  text: `
select ${stepColumns}
from flowfabric.ff_exec_core e
cross join lateral (
  select *
  from flowfabric.ff_step f
  where f.execution_id = e.execution_id and f.step_no > 0
    and f.step_no > ${beforeFirst('e.generation')} + $4::int8
  order by f.step_no
  limit $5
) s
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
order by s.step_no
limit $5`,
})

const list = 'steps'

/** Empty for an execution that does not exist, or is not the caller's. */
export async function listSteps(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: ListStepsRequest,
): Promise<StepPage> {
  refuseUnknownFields('steps.list', request, ['limit', 'cursor'])
  const { partition, uuid } = parseExecutionId(executionId)
  const limit = pageLimit(request.limit, limits.stepCount)
  // The last step before this page: its record, and its position, from which this page counts.
  const [after, last] = request.cursor === undefined ? [0, 0] : decodeCursor(list, request.cursor, ['int', 'int'])
  if (limit === 0) return { steps: [], nextCursor: null }
  const rows = await sql.query(listStatement, {
    execution_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    after: after as number,
    limit: limit + 1,
  })
  const steps = rows.slice(0, limit).map((row, index) => decodeStep(row, (last as number) + index + 1))
  if (rows.length <= limit) return { steps, nextCursor: null }
  const { recordNumber, number } = steps.at(-1)!
  return { steps, nextCursor: encodeCursor(list, [recordNumber, number]) }
}
