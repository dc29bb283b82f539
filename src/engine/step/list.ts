// The steps of an execution's current generation, in the order in which they were recorded.
import { limits } from '../../model/limits.ts'
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { from, orderBy, pageFields, pageLimit, readPage } from '../kernel/page.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { beforeFirst, decodeStep, stepColumns, stepRow, type Step } from './step.ts'

export interface ListStepsRequest {
  /**
   * Up to 10,000, which is the most that an execution can have, with 64 MiB at most. 0 is an empty page; 50 by default.
   */
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

// The position of a step is counted from the page before, so the cursor has it beside the record.
const order = orderBy('steps', { recordNumber: from(0), number: from(0) })

/** Empty for an execution that does not exist, or belongs to another namespace. */
export async function listSteps(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: ListStepsRequest,
): Promise<StepPage> {
  checkFields('steps.list', pageFields, request)
  const execution = visibleExecution(caller, executionId)
  const { rows: steps, nextCursor } = await readPage(
    request,
    order,
    async ({ recordNumber, number }, limit) => {
      const rows = await sql.query(listStatement, { ...execution, after: recordNumber, limit })
      return rows.map((row, index) => decodeStep(row, number + index + 1))
    },
    (limit) => pageLimit(limit, limits.stepCount),
  )
  return { steps, nextCursor }
}
