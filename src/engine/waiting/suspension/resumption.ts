// How a suspension ended, for the worker that resumes: the winners, and the signals that satisfied the condition, in
// the order in which they were accepted. Every later holder of the generation can read it, until the next suspension
// replaces it: the first worker to resume may have crashed before it recorded what it received.
import type { NodePath } from '../../../model/condition.ts'
import { limits } from '../../../model/limits.ts'
import type { CloseReason } from '../../../model/suspension.ts'
import type { Sql } from '../../../sql/sql.ts'
import { statement, type RowOf } from '../../../sql/statement.ts'
import { decodeSignal, signalColumns, type Signal, type signalRow } from '../signal-row.ts'

export interface Resumption {
  readonly suspensionId: string
  readonly idempotencyKey: string | null
  readonly resumedAt: number
  readonly closeReason: CloseReason
  /** Whether the condition was satisfied; false when a deadline that resumes came first, or an operator resumed. */
  readonly satisfied: boolean
  /** The leaves of the condition that were satisfied by then. */
  readonly satisfiedLeaves: readonly NodePath[]
  /** For each satisfied `anyOf`: the member that was satisfied first. */
  readonly winners: Readonly<Record<NodePath, NodePath>>
  /**
   * The signals that satisfied the condition; at a deadline that resumes, those that had counted, and then `timeout`.
   */
  readonly signals: readonly Signal[]
  /** There are more than fit into a claim; `signals.list` has them, and `suspensions.describe` names them. */
  readonly hasMoreSignals: boolean
}

// No more than an execution's payload may be, so that a claim of n returns at most n of both. One signal always fits.
const mostBytes = limits.payloadBytes
const signalBytes = `coalesce(octet_length(g.payload), 0) + 1024`
const payloadWithinBound = `case when sum(${signalBytes}) over accepted <= ${mostBytes} then encode(g.payload, 'base64') end`

/**
 * SQL for how the last suspension of a generation ended, as JSON in text, which takes half as long to make as jsonb
 * (measured); null without one. `execution` is a row with its execution_id and generation, as its lock or its own
 * statement's snapshot has it: every operation that closes a suspension writes the execution too.
 */
export function resumptionOf(execution: string): string {
  return `(
    select json_build_object('suspensionId', s.suspension_id, 'idempotencyKey', s.idempotency_key,
      'resumedAt', s.closed_at_ms, 'closeReason', s.close_reason, 'satisfied', s.outcome -> 'satisfied',
      'satisfiedLeaves', s.outcome -> 'satisfiedLeaves', 'winners', s.outcome -> 'winners',
      -- Most waits take one signal, which always fits (measured: a twentieth less for a drain of those that were answered).
      'only', case when ${tookOne} then (
        select row_to_json(g)
        from (
          select ${signalColumns('s.partition_key', `encode(g.payload, 'base64')`)}
          from flowfabric.ff_signal g
          where ${isTakenBySuspension}
        ) g
      ) end,
      'all', case when (${tookOne}) is not true then (
        select json_build_object(
          'signals', json_agg(row_to_json(g) order by g.signal_no) filter (where g.bytes_so_far <= ${mostBytes}),
          'hasMore', bool_or(g.bytes_so_far > ${mostBytes}))
        from (
          select ${signalColumns('s.partition_key', payloadWithinBound)}, g.signal_no,
            sum(${signalBytes}) over accepted as bytes_so_far
          from flowfabric.ff_signal g
          where ${isTakenBySuspension}
          window accepted as (order by g.signal_no)
        ) g
      ) end)::text
    from flowfabric.ff_suspension_current s
    where s.execution_id = any (array[${execution}.execution_id]) and s.closed_at_ms is not null
      and s.generation = ${execution}.generation)`
}

const tookOne = `cardinality(s.signal_nos) = 1`
const isTakenBySuspension = `g.execution_id = s.execution_id and g.signal_no = any (s.signal_nos)`

/** The result of `resumptionOf`. */
type StoredResumption = Pick<Resumption, 'suspensionId' | 'idempotencyKey' | 'resumedAt' | 'closeReason'> & {
  /** This and the next two are null when an operator resumed, which needs no decision. */
  readonly satisfied: boolean | null
  readonly satisfiedLeaves: Resumption['satisfiedLeaves'] | null
  readonly winners: Resumption['winners'] | null
  readonly only: StoredSignal | null
  readonly all: {
    /** Both null without signals. */
    readonly signals: readonly StoredSignal[] | null
    readonly hasMore: boolean | null
  } | null
}

type StoredSignal = Omit<RowOf<typeof signalRow>, 'payload'> & { readonly payload: string | null }

export function decodeResumption(found: string | null): Resumption | null {
  if (found === null) return null
  const stored = JSON.parse(found) as StoredResumption
  const signals = stored.only === null ? (stored.all?.signals ?? []) : [stored.only]
  return {
    suspensionId: stored.suspensionId,
    idempotencyKey: stored.idempotencyKey,
    resumedAt: stored.resumedAt,
    closeReason: stored.closeReason,
    satisfied: stored.satisfied ?? false,
    satisfiedLeaves: stored.satisfiedLeaves ?? [],
    winners: stored.winners ?? {},
    signals: signals.map((signal) => decodeSignal(signal, bytesOf(signal.payload))),
    hasMoreSignals: stored.all?.hasMore ?? false,
  }
}

function bytesOf(payload: string | null): Uint8Array | null {
  return payload === null ? null : new Uint8Array(Buffer.from(payload, 'base64'))
}

const resumptionStatement = statement({
  name: 'suspension.resumption',
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid', resumption: 'text?' },
  text: `
select e.execution_id, ${resumptionOf('e')} as resumption
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])`,
})

/** By the execution's uuid; null for those whose generation was never suspended. */
export async function readResumptions(sql: Sql, uuids: readonly string[]): Promise<Map<string, Resumption | null>> {
  const rows = await sql.query(resumptionStatement, { execution_ids: uuids })
  return new Map(rows.map((row) => [row.execution_id, decodeResumption(row.resumption)]))
}
