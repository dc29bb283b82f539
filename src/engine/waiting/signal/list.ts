// The signals of an execution, in the order in which they were accepted.
import { checkFields } from '../../../model/field.ts'
import type { Sql } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import { from, orderBy, pageFields, pageLimit, readPage } from '../../kernel/page.ts'
import { visibleExecution } from '../../kernel/visible.ts'
import { decodeSignal, signalColumns, signalRow, type Signal } from '../signal-row.ts'

export interface ListSignalsRequest {
  /** 0 is an empty page, and more than 100 counts as 100, because signals have payloads; 50 by default. */
  readonly limit?: number
  readonly cursor?: string
}

export interface SignalPage {
  readonly signals: readonly Signal[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'signal.list',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', signal_no: 'int8', limit: 'int8' },
  row: { signal_no: 'int8', ...signalRow },
  text: `
select g.signal_no, ${signalColumns('e.partition_key')}
from flowfabric.ff_exec_core e
cross join lateral (
  select g.*
  from flowfabric.ff_signal g
  where g.execution_id = e.execution_id and g.signal_no > $4
  order by g.signal_no
  limit $5
) g
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
order by g.signal_no`,
})

const order = orderBy('signals', { signal_no: from(0) })
const mostListed = 100

/** Empty for an execution that does not exist, or is not the caller's. */
export async function listSignals(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: ListSignalsRequest,
): Promise<SignalPage> {
  checkFields('signals.list', pageFields, request)
  const execution = visibleExecution(caller, executionId)
  const { rows, nextCursor } = await readPage(
    request,
    order,
    (after, limit) => sql.query(listStatement, { ...execution, ...after, limit }),
    (limit) => Math.min(pageLimit(limit), mostListed),
  )
  return { signals: rows.map((row) => decodeSignal(row, row.payload)), nextCursor }
}
