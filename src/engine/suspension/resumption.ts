// How a suspension ended, for whoever goes on: what won, and the signals that did it, in the order in which they were
// accepted. It stays readable for every later holder of the same attempt, until the next suspension takes its place.
import type { NodePath } from '../../model/condition.ts'
import type { CloseReason } from '../../model/suspension.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { decodeSignal, signalColumns, signalRow, type Signal } from '../signal/signal.ts'
import { byExecution } from './facts.ts'

export interface Resumption {
  readonly suspensionId: string
  readonly idempotencyKey: string | null
  readonly resumedAt: number
  readonly closeReason: CloseReason
  /** For each `anyOf` that was met: the member that was met first. */
  readonly winners: Readonly<Record<NodePath, NodePath>>
  /** The signals that satisfied the condition, or told of the timeout. */
  readonly signals: readonly Signal[]
}

const resumptionStatement = statement({
  name: 'suspension.resumption',
  params: { execution_ids: 'uuid[]' },
  row: {
    execution_id: 'uuid',
    suspension_id: 'uuid',
    idempotency_key: 'text?',
    closed_at_ms: 'int8',
    close_reason: 'text',
    winners: 'jsonb?',
  },
  text: `
select s.execution_id, s.suspension_id, s.idempotency_key, s.closed_at_ms, s.close_reason, s.outcome -> 'winners' as winners
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_suspension_current s on s.execution_id = any (array[e.execution_id])
where s.closed_at_ms is not null and s.generation = e.generation and s.attempt_index = e.attempt_index`,
})

const signalStatement = statement({
  name: 'suspension.resumption.signals',
  params: { execution_ids: 'uuid[]' },
  row: signalRow,
  text: `
select ${signalColumns('s.partition_key')}
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_suspension_current s on s.execution_id = any (array[i.execution_id])
cross join lateral (
  select *
  from flowfabric.ff_signal each
  where each.execution_id = s.execution_id and each.suspension_id = s.suspension_id and each.taken_at_ms is not null
  order by each.signal_no
  offset 0
) g
where s.closed_at_ms is not null`,
})

/** By the execution's uuid; those whose attempt was never suspended are left out. */
export async function readResumptions(sql: Sql, uuids: readonly string[]): Promise<ReadonlyMap<string, Resumption>> {
  const values = { execution_ids: uuids }
  const [rows, signals] = await sql.pipeline([call(resumptionStatement, values), call(signalStatement, values)])
  const signalsOf = byExecution(signals)
  return new Map(
    rows.map((row) => {
      const own = signalsOf.get(row.execution_id) ?? []
      return [row.execution_id, resumptionOf(row, own.map(decodeSignal))]
    }),
  )
}

function resumptionOf(row: RowOf<typeof resumptionStatement.row>, signals: readonly Signal[]): Resumption {
  return {
    suspensionId: row.suspension_id,
    idempotencyKey: row.idempotency_key,
    resumedAt: row.closed_at_ms,
    closeReason: row.close_reason as CloseReason,
    // An operator's resume has no verdict.
    winners: (row.winners ?? {}) as Resumption['winners'],
    signals,
  }
}
