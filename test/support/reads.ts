// Reads of several tables at once, each in one snapshot.
import type { Queries } from '../../src/sql/sql.ts'
import { rows, type Row } from './raw.ts'
import { leases, queues, ready } from './tables/claims.ts'
import { attempts, executions, executionTags, inputs, results, steps } from './tables/executions.ts'
import { cancelBacklog, dispatches, edgeGroups, edges, flows, members } from './tables/flows.ts'
import type { leaseEvents, signalEvents } from './tables/operation.ts'
import { signals } from './tables/waits.ts'

async function count(sql: Queries, texts: readonly string[]): Promise<number> {
  const sum = texts.map((text) => `(select count(*) from (${text}) r)`).join(' + ')
  const [row] = await rows(sql, `select (${sum})::int4 as count`)
  return row!['count'] as number
}

/** Running and claimable executions. */
export function countBusy(sql: Queries): Promise<number> {
  return count(sql, [`select from ${leases.qualified}`, `select from ${ready.qualified}`])
}

/** Dispatch rows, optionally only of flows, and cancels that no duty has processed yet. */
export function countPending(sql: Queries, { ofFlowsAlone = false } = {}): Promise<number> {
  const ofFlows = ofFlowsAlone ? ' where flow_id is not null' : ''
  return count(sql, [`select from ${dispatches.qualified}${ofFlows}`, `select from ${cancelBacklog.qualified}`])
}

/** Whether an execution has not ended, or an ending waits to be resolved in its flow. */
export async function isLive(sql: Queries): Promise<boolean> {
  const live = `select from ${executions.qualified} where lifecycle_phase <> 'terminal'`
  return (await count(sql, [live, `select from ${dispatches.qualified} where flow_id is not null`])) > 0
}

/** With the kinds of their queues, by kind. */
export function inputsByKind(sql: Queries): Promise<Row[]> {
  return rows(
    sql,
    `select q.execution_kind as kind, i.payload, i.payload_encoding as encoding, i.policy, i.idempotency_key as key
     from ${inputs.qualified} i
     join ${queues.qualified} q using (queue_id)
     order by 1`,
  )
}

/** Events of leases or signals with the value of a tag of their executions. */
export function eventsWithTag(
  sql: Queries,
  of: typeof leaseEvents | typeof signalEvents,
  columns: readonly string[],
  key: string,
): Promise<Row[]> {
  return rows(
    sql,
    `select ${columns.map((column) => `e.${column}`).join(', ')}, t.tag_value
     from ${of.qualified} e
     left join ${executionTags.qualified} t on t.execution_id = e.execution_id and t.tag_key = '${key}'
     order by e.event_id`,
  )
}

/** Every column that a codec of payloads encodes. */
export async function storedBytes(sql: Queries): Promise<Uint8Array[]> {
  const found = await rows(
    sql,
    `select payload as bytes from ${inputs.qualified} union all
     select result from ${results.qualified} union all
     select result from ${steps.qualified} union all
     select payload from ${signals.qualified} union all
     select error from ${attempts.qualified} where error is not null`,
  )
  return found.map((row) => row['bytes'] as Uint8Array)
}

/** Every execution with its result and its finished steps, `name=result` each. */
export function resultsWithSteps(sql: Queries): Promise<Row[]> {
  return rows(
    sql,
    `select e.public_state, convert_from(r.result, 'utf8') as result, (
       select string_agg(s.step_name || '=' || convert_from(s.result, 'utf8'), ' ' order by s.step_name)
       from ${steps.qualified} s
       where s.execution_id = e.execution_id and s.kind = 'step' and s.state = 'succeeded') as steps
     from ${executions.qualified} e
     left join ${results.qualified} r using (execution_id, generation)`,
  )
}

/** The members of one flow with their executions, by name. */
export function membersOfFlow(sql: Queries, flow: string): Promise<Row[]> {
  return membersWhere(sql, `m.flow_id = '${flow}'`)
}

/** The members of all flows with their executions, by name. */
export function membersOfAll(sql: Queries): Promise<Row[]> {
  return membersWhere(sql, 'true')
}

function membersWhere(sql: Queries, condition: string): Promise<Row[]> {
  return rows(
    sql,
    `select m.member_name, e.public_state, e.started_at_ms
     from ${members.qualified} m
     join ${executions.qualified} e using (execution_id)
     where ${condition}
     order by m.member_name`,
  )
}

/** The members of a tree of flows, with their executions and groups. */
export function membersOfTree(sql: Queries, rootFlow: string): Promise<Row[]> {
  return rows(
    sql,
    `select m.member_name, e.terminal_outcome, e.eligibility_state, e.generation, g.state, g.satisfied, g.failed, g.skipped,
       coalesce(e.failure_reason, e.cancellation_reason) as reason
     from ${flows.qualified} f
     join ${members.qualified} m on m.flow_id = f.flow_id
     join ${executions.qualified} e on e.execution_id = m.execution_id
     left join ${edgeGroups.qualified} g on g.downstream_id = e.execution_id
     where f.root_flow_id = '${rootFlow}'`,
  )
}

/** The flows of a tree; `standing` is the name of the member that stands for the flow in the outer one. */
export function flowsOfTree(sql: Queries, rootFlow: string): Promise<Row[]> {
  return rows(
    sql,
    `select f.*, m.member_name as standing
     from ${flows.qualified} f
     left join ${members.qualified} m on m.execution_id = f.member_id
     where f.root_flow_id = '${rootFlow}'`,
  )
}

/** The flows of a tree that ended and were not cancelled, with their members, edges and joins as the model reads them. */
export function endedFlowsOfTree(sql: Queries, rootFlow: string): Promise<Row[]> {
  return rows(
    sql,
    `select f.flow_id, f.outcome, s.terminal_outcome = 'skipped' and s.failure_reason = 'dependency_failed' as is_struck,
       (
         select jsonb_agg(jsonb_build_object('id', e.execution_id, 'ending', e.terminal_outcome, 'reason', e.failure_reason))
         from ${executions.qualified} e
         where e.flow_id = f.flow_id
       ) as members,
       (
         select coalesce(jsonb_agg(jsonb_build_object('upstreamId', x.upstream_id, 'downstreamId', x.downstream_id,
           'kind', x.kind, 'resolution', x.resolution)), '[]')
         from ${edges.qualified} x
         where x.flow_id = f.flow_id and x.kind <> 'start'
       ) as edges,
       (
         select coalesce(jsonb_agg(jsonb_build_object('downstreamId', g.downstream_id, 'isSatisfied',
           g.state = 'satisfied', 'quorum', g.quorum, 'satisfied', (
             select count(*) from ${edges.qualified} y where y.downstream_id = g.downstream_id and y.resolution = 'satisfied'
           ))), '[]')
         from ${edgeGroups.qualified} g
         where g.flow_id = f.flow_id
       ) as joins
     from ${flows.qualified} f
     left join ${executions.qualified} s on s.execution_id = f.member_id
     where f.root_flow_id = '${rootFlow}' and f.ended_at_ms is not null and f.cancelled_at_ms is null`,
  )
}
