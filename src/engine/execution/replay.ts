// Replay: an ended execution runs once more, as a new generation. Counts of retries and reclaims restart at zero; totals and the
// results of older generations stay. A deadline that was given as a duration restarts; a fixed one that has passed is
// dropped, and the result reports it. A member of a flow is replayed under the lock of its flow, each by itself. With `from`
// the execution keeps its records from before that step, and runs from there.
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import { show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { Unpublished, type Written } from '../kernel/effects.ts'
import type { Outcome, Sent, SetOperation } from '../kernel/merge.ts'
import { beforeFirst } from '../step/step.ts'
import { lockedTarget, operatorSet, readyAgain, targetAnswer } from '../transition/operator-set.ts'
import { nextDeadlineSql, reopenExecutions } from '../transition/reopen.ts'
import { refusalOf, repeatedReplay, replayedAs, replayRequest, type Replay, type Replayed } from './replay-request.ts'
import { rememberRequests, repeatable, repeatedAnswer, repeatedRequests } from './request-memory.ts'

const row = {
  ordinal: 'int8',
  queue_id: 'int4',
  public_state: oneOf<PublicState | null>(),
  generation: 'int4?',
  replay_count: 'int4?',
  most_replays: 'int4?',
  next_deadline_ms: 'int8?',
  deadline_dropped: 'bool?',
  is_member: 'bool?',
  is_from_known: 'bool?',
  repeated: 'jsonb?',
} as const

const replayStatement = statement({
  name: 'execution.replay',
  params: replayRequest.params,
  row,
  text: `
${replayRequest.input},
${lockedTarget(...replayRequest.columns)},
${repeatedRequests},
${clockAfter('target')},
evaluated as materialized (
  select t.*, c.now_ms, t.flow_id is not null as is_member,
    coalesce((n.policy ->> 'maxReplayCount')::int4, ${limits.defaultReplayCount}) as most_replays,
    ${nextDeadlineSql('c.now_ms')} as next_deadline_ms,
    coalesce(n.deadline_at_ms <= c.now_ms, false) as deadline_dropped,
    s.step_no as from_no, t.from_name is null or s.step_no is not null as is_from_known,
    ${repeatedAnswer}
  from target t
  cross join clock c
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
  left join lateral (
    select f.step_no
    from flowfabric.ff_step f
    where f.execution_id = t.execution_id and f.generation = t.generation
      and f.step_name = t.from_name and f.step_index = t.from_index and f.kind not in ('compensation', 'hook')
    limit 1
  ) s on true
),
reopening as materialized (
  select j.*, false as is_blocked, true as is_requested, j.actor as reopening_actor, j.reason as reopening_reason
  from evaluated j
  where j.lifecycle_phase = 'terminal' and j.replay_count < j.most_replays and not j.is_member
    and j.is_from_known and j.repeated is null
),
${reopenExecutions},
${rememberRequests(
  'reopening t',
  `jsonb_build_object('generation', t.generation + 1, 'replayCount', t.replay_count + 1, 'from', t.public_state,
    'deadlineAt', t.next_deadline_ms, 'deadlineDropped', t.deadline_dropped)`,
  't.now_ms',
)},
kept_steps as (
  insert into flowfabric.ff_step (execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count,
    attempt_index, lease_epoch, recorded_at_ms, due_at_ms, duration_ms, origin_id, total_bytes, total_count, result,
    result_encoding, made_no)
  select r.execution_id, r.generation + 1, s.step_name, s.step_index, s.step_no + ${beforeFirst('1')}, s.place, s.kind,
    s.state, s.try_count, s.attempt_index, s.lease_epoch, s.recorded_at_ms, s.due_at_ms, s.duration_ms, s.origin_id,
    s.kept_bytes, s.kept_count, s.result, s.result_encoding, s.made_no
  from reopening r
  cross join lateral (
    select f.*, sum(coalesce(octet_length(f.result), 0)) over earlier as kept_bytes, count(*) over earlier as kept_count
    from flowfabric.ff_step f
    where f.execution_id = r.execution_id and f.step_no > 0
      and f.step_no > ${beforeFirst('r.generation')} and f.step_no < r.from_no
      and f.state in ('succeeded', 'timed_out')
      -- The code registers its compensations again.
      and f.kind not in ('compensation', 'hook')
    window earlier as (order by f.step_no)
  ) s
)
${targetAnswer('evaluated', row)}`,
})

/** `replayMember` replays a member of a flow, under the lock of the flow. */
export function replayOperation(
  sql: Sql,
  replayMember: (sql: Sql, item: Replay) => Promise<Written<Replayed | EngineError>>,
): SetOperation<Replay, Replayed> {
  const alone = operatorSet<Replay, typeof row, Replayed | typeof isMember>(
    sql,
    (items, again) => call(replayStatement, repeatable(replayRequest.values(items), again)),
    ({ executionId, fromName }, found) => {
      if (found.repeated !== null) return repeatedReplay(executionId, found.repeated)
      const from = found.public_state!
      const replayable = {
        executionId,
        from,
        replayCount: found.replay_count!,
        mostReplays: found.most_replays!,
        generation: found.generation!,
        deadlineAt: found.next_deadline_ms,
        deadlineDropped: found.deadline_dropped!,
      }
      if (found.is_member === true && isEnded(from)) return fromName === null ? isMember : notFromStep(executionId)
      const refused = refusalOf(replayable)
      if (refused !== null || found.is_from_known === true) return refused ?? replayedAs(replayable)
      const sentence = `execution ${executionId} has no recorded step ${show(fromName)}; steps.list returns its steps`
      return new EngineError('step_not_found', sentence, { executionId, step: fromName })
    },
    (_items, rows) => readyAgain(rows),
  )
  const unpublished = new Unpublished()
  const finish = async (items: readonly Replay[], sent: Sent<Replayed | typeof isMember>): Promise<Sent<Replayed>> => {
    unpublished.add(sent.effects)
    const outcomes: Outcome<Replayed>[] = []
    for (const [index, outcome] of sent.outcomes.entries()) {
      if (outcome !== isMember) {
        outcomes.push(outcome)
        continue
      }
      const { answer, effects } = await replayMember(sql, items[index]!)
      unpublished.add(effects)
      outcomes.push(answer)
    }
    return { outcomes, effects: unpublished.take() }
  }
  return {
    ...alone,
    send: async (items, again, isHalf) => finish(items, await alone.send(items, again, isHalf)),
    sendAlone: async (item, again, lockTimeoutMs) => finish([item], await alone.sendAlone(item, again, lockTimeoutMs)),
  }
}

function notFromStep(executionId: ExecutionId): EngineError {
  const sentence = `execution ${executionId} belongs to a flow, whose members can only be replayed from the start; omit from`
  return new EngineError('unsupported', sentence, { executionId })
}

const isMember: unique symbol = Symbol('member of a flow')
