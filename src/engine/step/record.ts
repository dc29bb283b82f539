// Records a step: the holder writes the result of its code, so that the next run does not repeat it. A record that has
// succeeded or timed out is never overwritten: a call that is repeated after a lost reply returns that it is recorded.
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import type { StepKind } from '../../model/step.ts'
import { show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { fencedSet } from '../transition/fenced-operation.ts'
import { fenced } from '../transition/fence.ts'
import { fencedAnswer, fencedRow } from '../transition/fenced-answer.ts'
import { rowLocked, type Outcome, type Sent, type SetOperation } from '../kernel/merge.ts'
import { recordStepRequest, type NewStep, type StepRecorded } from './record-request.ts'
import { beforeFirst } from './step.ts'

/** The name of a hook's record when the task has no other hook. */
const onFailure = 'onFailure'

const recordRow = {
  ...fencedRow,
  is_over: 'bool?',
  known_kind: oneOf<StepKind | null>(),
  due_at_ms: 'int8?',
  now_ms: 'int8?',
} as const
type RecordRow = RowOf<typeof recordRow>

// One set may have several steps of one execution: each counts for the steps after it. Sets of two holders never conflict.
// Two concurrent sets of one holder compute the same numbers, so that the second fails and is sent again. The earlier
// record of a step is read in a subquery: a join may read it by the generation alone, which all steps share (measured:
// 280 ms a set after 6,000 steps, planned while the table was empty).
function recordText(more: string): string {
  return `
${recordStepRequest.input},
${fenced(...recordStepRequest.columns)},
known as materialized (
  select v.*, e.generation, e.attempt_index, coalesce(last.step_no, ${beforeFirst('e.generation')}) as last_no,
    coalesce(last.total_count, 0) as last_count, coalesce(last.total_bytes, 0) as last_bytes,
    s.kind as known_kind, coalesce(s.result_bytes, 0) as known_bytes,
    coalesce(v.given_due_at_ms, v.now_ms + v.due_in_ms) as due_at_ms
  from checked v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  left join lateral (
    select n.step_no, n.total_count, n.total_bytes
    from flowfabric.ff_step n
    where n.execution_id = e.execution_id and n.step_no > 0 and n.step_no > ${beforeFirst('e.generation')}
    order by n.step_no desc
    limit 1
  ) last on true
  left join lateral (
    select f.kind, octet_length(f.result) as result_bytes
    from flowfabric.ff_step f
    where f.execution_id = v.execution_id and f.generation = e.generation
      and f.step_name = v.step_name and f.step_index = v.step_index
    limit 1
  ) s on true
),
counted as materialized (
  select k.*, k.last_no + row_number() over earlier as step_no,
    k.last_count + sum(case when k.known_kind is null then 1 else 0 end) over earlier as total_count,
    k.last_bytes + sum(coalesce(octet_length(k.result), 0) - k.known_bytes) over earlier as total_bytes
  from known k
  window earlier as (partition by k.execution_id order by k.ordinal)
),
evaluated as materialized (
  select c.*, c.total_count > ${limits.stepCount} or c.total_bytes > ${limits.stepBytes} as is_over
  from counted c
),
recorded as (
  insert into flowfabric.ff_step as s (execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count,
    attempt_index, lease_epoch, recorded_at_ms, due_at_ms, duration_ms, origin_id, total_bytes, total_count, result,
    result_encoding, made_no)
  select execution_id, generation, step_name, step_index, step_no, place, kind::flowfabric.ff_step_kind,
    state::flowfabric.ff_step_state, try_count, attempt_index, lease_epoch, now_ms, due_at_ms, duration_ms, origin_id,
    total_bytes, total_count, result, result_encoding,
    case when kind in ('child', 'compensation') then (step_no - ${beforeFirst('generation')})::int4 end
  from evaluated
  where is_held and not is_over and coalesce(known_kind::text = kind, true)
  on conflict (execution_id, generation, step_name, step_index) do update
  set step_no = excluded.step_no, state = excluded.state, try_count = excluded.try_count,
    attempt_index = excluded.attempt_index, lease_epoch = excluded.lease_epoch,
    recorded_at_ms = excluded.recorded_at_ms, due_at_ms = excluded.due_at_ms, duration_ms = excluded.duration_ms,
    origin_id = excluded.origin_id, total_bytes = excluded.total_bytes, total_count = excluded.total_count,
    result = excluded.result, result_encoding = excluded.result_encoding,
    -- A new attempt makes another child in place of one that has failed.
    made_no = case when s.state = 'failed' then excluded.made_no else s.made_no end
  where s.state in ('pending', 'failed')
)${more}
${fencedAnswer('evaluated', 'is_over', 'known_kind', 'due_at_ms', 'now_ms')}`
}

const recordStatement = statement({
  name: 'step.record',
  params: recordStepRequest.params,
  row: recordRow,
  text: recordText(''),
})

// For sets with a compensation or a hook, so that other sets pay nothing for it. From now on a cancel or a deadline asks
// the execution to stop first. The row is locked: either a cancel came first and the record is refused, or the cancel
// reads the bit.
const registerStatement = statement({
  name: 'step.register',
  params: recordStepRequest.params,
  row: recordRow,
  text: recordText(`,
registered as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | j.bits
  from (
    select execution_id, bit_or(case when kind = 'hook' and step_name = '${onFailure}' then ${attached.onFailure}
      else ${attached.compensation} end) as bits
    from evaluated
    where kind in ('compensation', 'hook') and is_held and not is_over and coalesce(known_kind::text = kind, true)
    group by execution_id
  ) j
  where e.execution_id = any (array[j.execution_id]) and e.attached & j.bits <> j.bits
)`),
})

function isRegistration({ kind }: NewStep): boolean {
  return kind === 'compensation' || kind === 'hook'
}

interface AnsweredStep {
  readonly item: NewStep
  readonly row: RecordRow
}

export function recordStepOperation(sql: Sql): SetOperation<NewStep, StepRecorded> {
  const set = fencedSet<NewStep, RecordRow, AnsweredStep>(sql, {
    callOf: (items) =>
      call(items.some(isRegistration) ? registerStatement : recordStatement, recordStepRequest.values(items)),
    writesEvents: false,
    answer: (item, row) => ({ item, row }),
    // A late record changes nothing: a worker that lost the lease stops.
    repeat: () => null,
  })
  return {
    keyOf: ({ uuid, name, index }) => `${uuid} ${index} ${name}`,
    bytesOf: (item) => 256 + (item.result?.byteLength ?? 0),
    send: async (items, again, isHalf) => sentOf(await set.send(items, again, isHalf)),
    sendAlone: async (item, again, lockTimeoutMs) => sentOf(await set.sendAlone(item, again, lockTimeoutMs)),
  }
}

function sentOf({ outcomes, effects }: Sent<AnsweredStep>): Sent<StepRecorded> {
  return { outcomes: outcomes.map(outcomeOf), effects }
}

function outcomeOf(outcome: Outcome<AnsweredStep>): Outcome<StepRecorded> {
  if (outcome === rowLocked || EngineError.is(outcome)) return outcome
  const { item, row } = outcome
  const { executionId, name, kind } = item
  if (row.known_kind !== null && row.known_kind !== kind) {
    const sentence = `${executionId} has recorded ${show(name)} as a ${row.known_kind}, but now it is a ${kind}; choose another name`
    return new EngineError('step_kind_conflict', sentence, { executionId, step: name, recorded: row.known_kind, kind })
  }
  if (row.is_over === true) {
    const most = `${limits.stepCount} steps or ${limits.stepBytes / 1024 / 1024} MiB of them`
    const sentence = `${executionId} has reached the limit of one generation, ${most}; continue with ctx.restart(input)`
    return new EngineError('step_limit', sentence, { executionId, step: name })
  }
  return { kind: 'step_recorded', executionId, recordedAt: row.now_ms!, dueAt: row.due_at_ms }
}
