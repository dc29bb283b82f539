// Ends executions that an earlier statement of the transaction has locked: cancels, failures, timeouts, deadlines, skips. It is the
// terminal routine of `ending.ts` as a statement. Only a completion, which is hot, contains the routine in its own statement.
import type { TerminalOutcome } from '../../model/state.ts'
import type { CloseReason } from '../../model/suspension.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { pendingDispatchOfEnded } from '../kernel/pending-dispatch.ts'
import { endExecutionsClosing } from './ending.ts'

export interface Ending {
  /** The execution's. */
  readonly uuid: string
  readonly outcome: Exclude<TerminalOutcome, 'none'>
  readonly reason: string | null
  readonly actor: string
  /** Read from the clock after the lock. */
  readonly endedAt: number
  /** How the attempt failed. */
  readonly failure?: AttemptFailure | undefined
  /** How suspension and waitpoints close; follows from the outcome by default. */
  readonly closeReason?: CloseReason | undefined
}

export interface AttemptFailure {
  readonly category: string | null
  readonly error: Uint8Array | null
  readonly errorEncoding: string | null
}

const endStatement = statement({
  name: 'execution.end',
  params: {
    execution_ids: 'uuid[]',
    outcomes: 'text[]',
    reasons: 'text?[]',
    actors: 'text[]',
    ended_ats_ms: 'int8[]',
    categories: 'text?[]',
    errors: 'bytea?[]',
    error_encodings: 'text?[]',
    close_reasons: 'text[]',
  },
  row: { pending_dispatch: 'int4' },
  text: `
with ending as materialized (
  select i.execution_id, e.ownership_state, e.eligibility_state, e.attempt_state, e.queue_id, e.priority, e.rank,
    i.outcome::flowfabric.ff_terminal_outcome as ending_outcome, i.reason as ending_reason, i.actor as ending_actor,
    i.ended_at_ms, null::bytea as ending_result, null::text as ending_encoding, i.category as ending_category,
    i.error as ending_error, i.error_encoding as ending_error_encoding, i.close_reason as ending_close_reason
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::bytea[], $8::text[], $9::text[])
    as i (execution_id, outcome, reason, actor, ended_at_ms, category, error, error_encoding, close_reason)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
${endExecutionsClosing('d.ending_close_reason', 'n.ending_close_reason')}
select ${pendingDispatchOfEnded} as pending_dispatch`,
})

/** Ends each of them. The row that it returns has the dispatch that the endings need, as bits of `pendingDispatch`. */
export function endCall(endings: readonly Ending[]) {
  return call(endStatement, {
    execution_ids: endings.map(({ uuid }) => uuid),
    outcomes: endings.map(({ outcome }) => outcome),
    reasons: endings.map(({ reason }) => reason),
    actors: endings.map(({ actor }) => actor),
    ended_ats_ms: endings.map(({ endedAt }) => endedAt),
    categories: endings.map(({ failure }) => failure?.category ?? null),
    errors: endings.map(({ failure }) => failure?.error ?? null),
    error_encodings: endings.map(({ failure }) => failure?.errorEncoding ?? null),
    close_reasons: endings.map(({ outcome, closeReason }) => closeReason ?? closeReasonOf(outcome)),
  })
}

function closeReasonOf(outcome: TerminalOutcome): CloseReason {
  if (outcome === 'cancelled' || outcome === 'skipped') return 'cancelled'
  // A holder ended any other, so it was not suspended: an open waitpoint was created ahead and never used.
  return outcome === 'expired' ? 'expired' : 'never_committed'
}
