// Reads suspended executions: the condition of each, and everything that it is evaluated with. Later statements of the
// transaction that locked the executions read it: a signal is written under that lock, and leaves no other trace on the
// execution's row.
import type { ConditionInput } from '../../../model/condition-evaluate.ts'
import type { ConditionSignal } from '../../../model/condition-match.ts'
import type { Condition } from '../../../model/condition.ts'
import type { Json } from '../../../model/json.ts'
import type { SourceType } from '../../../model/signal.ts'
import type { TimeoutBehaviour } from '../../../model/suspension.ts'
import { call, type RowsOf } from '../../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../../sql/statement.ts'
import { waitingAt, waitingByName } from '../../transition/untaken-signals.ts'

export interface OpenSuspension {
  /** The execution's. */
  readonly uuid: string
  readonly suspensionId: string
  readonly condition: Condition
  readonly input: ConditionInput
  /** By the signal's id: its number among all signals of the execution. */
  readonly signalNumbers: ReadonlyMap<string, number>
  readonly keepsWaitpoints: boolean
  readonly resumeDelayMs: number | null
  readonly wakeAt: number | null
  readonly timeoutAt: number | null
  /** For the deadline that is set: after an escalation, the second one. */
  readonly timeoutBehaviour: TimeoutBehaviour | null
}

/** The columns of `openSuspensionOf`. */
export const openSuspensionRow = {
  suspension_id: 'uuid',
  condition: 'jsonb',
  keeps_waitpoints: 'bool',
  resume_delay_ms: 'int8?',
  wake_at_ms: 'int8?',
  timeout_at_ms: 'int8?',
  escalated_at_ms: 'int8?',
  timeout_behaviour: oneOf<TimeoutBehaviour | null>(),
  /** By the child's id: when it ended. Null when none has. */
  child_endings: 'jsonb?',
} as const

/** SQL for the children that a condition waits for, as a set of ids in jsonb; and for the uuid of such an id. */
export const childLeaves = (condition: string): string =>
  `jsonb_path_query(${condition}, '$.** ? (@.kind == "child").executionId')`
export const uuidOfLeaf = (id: string): string =>
  `substring(${id} #>> '{}' from '^\\{fp:\\d+\\}:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$')::uuid`

/**
 * The open suspension of an execution; for a lateral join. A child's ending is final, so it is not locked. An unknown
 * id, or that of another parent's child, yields nothing. A leaf without a child skips this query, which costs more than
 * all the rest.
 */
export function openSuspensionOf(execution: string): string {
  return `
  select s.suspension_id, s.condition, s.keeps_waitpoints, s.resume_delay_ms, s.wake_at_ms, s.timeout_at_ms, s.escalated_at_ms,
    case when s.escalated_at_ms is null then s.timeout_behavior else s.second_behavior end as timeout_behaviour,
    c.child_endings
  from flowfabric.ff_suspension_current s
  cross join lateral (
    select jsonb_object_agg(c.id #>> '{}', e.terminal_at_ms) as child_endings
    from ${childLeaves('s.condition')} as c (id)
    cross join lateral (
      select e.terminal_at_ms
      from flowfabric.ff_exec_core e
      where e.execution_id = ${uuidOfLeaf('c.id')}
        and e.parent_id = s.execution_id and e.terminal_at_ms is not null
      offset 0
    ) e
    where s.condition ->> 'kind' in ('child', 'allOf', 'anyOf')
  ) c
  where s.execution_id = any (array[${execution}]) and s.closed_at_ms is null
  offset 0`
}

const openSuspensions = statement({
  name: 'suspension.open',
  params: { execution_ids: 'uuid[]' },
  row: {
    execution_id: 'uuid',
    now_ms: 'int8',
    /** The number for the signal of a timeout. */
    free_signal_no: 'int8',
    ...openSuspensionRow,
  },
  text: `
select i.execution_id, flowfabric.ff_now_ms() as now_ms, nextval('flowfabric.ff_signal_no') as free_signal_no, o.*
from unnest($1::uuid[]) as i (execution_id)
cross join lateral (${openSuspensionOf('i.execution_id')}
) o`,
})

// Signals through the suspension's waitpoints, and untaken signals by name whose name is in the condition; both are
// selected by what is open, not among all signals that the execution has ever received. A name that occurs there in
// another role costs a row that no leaf takes. A signal that did not count on arrival never will, and only a predicate
// needs payloads, of which there may be thousands. A single leaf is still unsatisfied, so no earlier signal can have
// matched it. Besides the executions of `$1`, those of the waitpoints of `$2`: a sender through a waitpoint knows only
// that.
const openSignals = statement({
  name: 'suspension.open.signals',
  params: { execution_ids: 'uuid[]', waitpoint_ids: 'uuid[]' },
  row: {
    execution_id: 'uuid',
    signal_no: 'int8',
    signal_id: 'uuid',
    signal_name: 'text',
    source_type: oneOf<SourceType>(),
    source_identity: 'text',
    waitpoint_key: 'text?',
    accepted_at_ms: 'int8',
    payload: 'bytea?',
    payload_encoding: 'text?',
  },
  text: `
select g.execution_id, g.signal_no, g.signal_id, g.signal_name, g.source_type, g.source_identity, g.waitpoint_key,
  g.accepted_at_ms, case when jsonb_path_exists(s.condition, '$.**.payload') then g.payload end as payload,
  g.payload_encoding
from (
  select unnest($1::uuid[]) as execution_id
  union
  select p.execution_id
  from unnest($2::uuid[]) as w (waitpoint_id)
  cross join lateral (
    select p.execution_id
    from flowfabric.ff_waitpoint_pending p
    where p.waitpoint_id = w.waitpoint_id
    offset 0
  ) p
) i
join flowfabric.ff_suspension_current s on s.execution_id = any (array[i.execution_id])
cross join lateral (
  select g.*
  from flowfabric.ff_waitpoint_pending p
  cross join lateral (${waitingAt('p')}
  ) g
  where p.execution_id = any (array[s.execution_id]) and p.suspension_id = s.suspension_id
    and g.suspension_id = s.suspension_id
  union all
  select g.*
  from (${waitingByName('s')}
  ) g
  where jsonb_path_exists(s.condition, '$.** ? (@.name == $name)', jsonb_build_object('name', g.signal_name))
) g
where s.closed_at_ms is null and s.condition ->> 'kind' <> 'signal'
  and g.effect in ('appended_to_waitpoint', 'buffered_for_pending_waitpoint', 'kept_for_condition')`,
})

/** Sent after the locks on the executions; also for the executions of these waitpoints. */
export function openSignalsCall(uuids: readonly string[], waitpointUuids: readonly string[] = []) {
  return call(openSignals, { execution_ids: uuids, waitpoint_ids: waitpointUuids })
}

/** Sent in this order after the locks on the executions. */
export function openSuspensionCalls(uuids: readonly string[]) {
  return [call(openSuspensions, { execution_ids: uuids }), openSignalsCall(uuids)] as const
}

export type OpenSuspensionRows = RowsOf<ReturnType<typeof openSuspensionCalls>>

/** By the execution's uuid; without those that are not suspended. */
export function openSuspensionsOf([open, signals]: OpenSuspensionRows): ReadonlyMap<string, OpenSuspension> {
  const signalsOf = byExecution(signals)
  return new Map(open.map((row) => [row.execution_id, suspensionOf(row, signalsOf.get(row.execution_id) ?? [])]))
}

export function byExecution<Row extends { readonly execution_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.execution_id)
    if (group === undefined) groups.set(row.execution_id, [row])
    else group.push(row)
  }
  return groups
}

export type SignalRow = RowOf<typeof openSignals.row>

type OpenRow = RowOf<typeof openSuspensions.row>

export function suspensionOf(row: Omit<OpenRow, 'free_signal_no'>, signals: readonly SignalRow[]): OpenSuspension {
  return {
    uuid: row.execution_id,
    suspensionId: row.suspension_id,
    condition: row.condition as Condition,
    input: {
      signals: signals.map(storedConditionSignal),
      childEndings: new Map(Object.entries((row.child_endings ?? {}) as Readonly<Record<string, number>>)),
      // An escalation is a deadline that has passed and closed nothing.
      ...(row.escalated_at_ms === null ? {} : { timedOutAt: row.escalated_at_ms }),
      now: row.now_ms,
    },
    signalNumbers: new Map(signals.map((signal) => [signal.signal_id, signal.signal_no])),
    keepsWaitpoints: row.keeps_waitpoints,
    resumeDelayMs: row.resume_delay_ms,
    wakeAt: row.wake_at_ms,
    timeoutAt: row.timeout_at_ms,
    timeoutBehaviour: row.timeout_behaviour,
  }
}

export function storedConditionSignal(row: Omit<SignalRow, 'execution_id' | 'signal_no'>): ConditionSignal {
  const payload = jsonOf(row.payload, row.payload_encoding)
  return {
    id: row.signal_id,
    name: row.signal_name,
    source: { type: row.source_type, identity: row.source_identity },
    ...(row.waitpoint_key === null ? {} : { waitpoint: row.waitpoint_key }),
    ...(payload === undefined ? {} : { payload }),
    acceptedAt: row.accepted_at_ms,
  }
}

/** The payload that a predicate can read; bytes in another encoding are opaque. */
export function jsonOf(payload: Uint8Array | null, encoding: string | null): Json | undefined {
  if (payload === null || encoding !== 'json') return undefined
  try {
    return JSON.parse(Buffer.from(payload).toString('utf8')) as Json
  } catch {
    return undefined
  }
}
