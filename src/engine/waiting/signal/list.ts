// The signals of an execution, in the order in which they were accepted.
import { decodeCursor, encodeCursor } from '../../../model/cursor.ts'
import { parseExecutionId } from '../../../model/id.ts'
import { refuseUnknownFields } from '../../../model/shape.ts'
import type { Sql } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import { pageLimit } from '../../kernel/page.ts'
import { decodeSignal, signalColumns, signalRow, type Signal } from '../signal-row.ts'

export interface ListSignalsRequest {
  /** Nought is an empty page, more than 100 is 100, because payloads come with them; 50 when left out. */
  readonly limit?: number
  readonly cursor?: string
}

export interface SignalPage {
  readonly signals: readonly Signal[]
  readonly nextCursor: string | null
}

const mostListed = 100

const listStatement = statement({
  name: 'signal.list',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', after_no: 'int8', limit: 'int8' },
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

/** Empty for an execution that does not exist, or is not the caller's. */
export async function listSignals(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: ListSignalsRequest,
): Promise<SignalPage> {
  refuseUnknownFields('signals.list', request, ['limit', 'cursor'])
  const { partition, uuid } = parseExecutionId(executionId)
  const limit = Math.min(pageLimit(request.limit), mostListed)
  const [after] = request.cursor === undefined ? [0] : decodeCursor('signals', request.cursor, ['int'])
  if (limit === 0) return { signals: [], nextCursor: null }
  const rows = await sql.query(listStatement, {
    execution_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    after_no: after as number,
    limit: limit + 1,
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    signals: page.map((row) => decodeSignal(row, row.payload)),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor('signals', [last.signal_no]) : null,
  }
}
