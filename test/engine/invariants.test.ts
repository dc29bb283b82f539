// Each invariant can fail: the test breaks it, the check reports exactly that, and the repaired database is healthy
// again.
import { expect, test } from 'vitest'
import { flowInvariants } from '../../src/engine/flow/invariants.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import { adding, changing, noExecution, taking, type Breakage } from './breakage.ts'

const ready = ['ff_ready', 'queue_id, neg_priority, rank, execution_id'] as const
const leaseColumns =
  'execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms, attempt_started_at_ms, attempt_index, attempt_type, worker_id, worker_instance_id'
const tagColumns = 'execution_id, created_at_ms, namespace, tag_key, tag_value'
const pairs = 'every core row has its input row, and its queue and lane exist'
const lease = 'a lease exists exactly while its execution is active, with the same id and epoch'
const completion = 'an ended execution has one completion event while the log is kept, and an open one has none'
const readyTable = 'the ready table has exactly the eligible executions'
const orphans = 'no row belongs to a deleted execution'
const suspension =
  'a suspension is open exactly while its execution is suspended, with the same attempt, and the flag of the execution is set'
const waitpoint =
  'a waitpoint is open only while its suspension is open, or while its execution can still suspend and has the flag set'
const tag = 'the tag flag of an execution matches its tags'
const bound = 'the flags for policy limits match the policy of the execution'
const signal = 'the flag for unread named signals matches the signals of the execution'
const compensation =
  'the flag for compensations matches the steps of the execution, and an execution that was asked to stop has a deadline'
const takenSignal = 'no signal was taken from an open waitpoint'

const step = 'the newest step of a generation has the right totals, and no step is of a later generation'
const stepColumns =
  'execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count, attempt_index, lease_epoch, recorded_at_ms, total_bytes, total_count'

const waitpointColumns =
  'execution_id, partition_key, waitpoint_id, suspension_id, created_at_ms, activated_at_ms, state, waitpoint_key, token_kid'
const unused = `execution_id, partition_key, execution_id, null, 0, null, 'pending', 'k', 'kid'`
const signalColumns =
  'execution_id, signal_id, accepted_at_ms, generation, effect, signal_name, signal_category, source_type, source_identity'

const suspensionOfAll = '(select suspension_id from flowfabric.ff_suspension_current)'

function orphan(by: string, ...row: Parameters<typeof adding>): Breakage {
  return { invariant: orphans, by, given: 'waiting', ...adding(...row) }
}

const breakages: readonly Breakage[] = [
  {
    invariant: compensation,
    by: 'a compensation that the execution does not know of',
    given: 'active',
    ...adding('ff_step', stepColumns, `execution_id, 0, 'u', 0, 1, 0, 'compensation', 'pending', 0, 0, 1, 0, 0, 1`),
  },
  {
    invariant: compensation,
    by: 'a request to stop without a deadline',
    given: 'active',
    ...changing('ff_exec_core', 'cancel_requested_at_ms', '1', 'null'),
  },
  { invariant: 'no execution is stranded', by: 'a ready row that is gone', given: 'waiting', ...taking('ff_ready') },
  {
    invariant: readyTable,
    by: 'a ready row of what runs',
    given: 'active',
    ...adding(...ready, 'queue_id, 0, rank, execution_id'),
  },
  {
    invariant: readyTable,
    by: 'an orphaned ready row',
    given: 'active',
    ...adding(...ready, `queue_id, 0, rank, ${noExecution}::uuid`),
  },
  { invariant: lease, by: 'a lease that is gone', given: 'active', ...taking('ff_lease') },
  {
    invariant: lease,
    by: 'another epoch',
    given: 'active',
    ...changing('ff_lease', 'lease_epoch', 'lease_epoch + 1', 'lease_epoch - 1'),
  },
  {
    invariant: lease,
    by: 'another lease',
    given: 'active',
    ...changing('ff_exec_core', 'lease_id', `${noExecution}::uuid`, '(select lease_id from flowfabric.ff_lease)'),
  },
  {
    invariant: lease,
    by: 'a lease on what waits',
    given: 'waiting',
    ...adding('ff_lease', leaseColumns, `execution_id, execution_id, 0, 0, 0, 0, 0, 'initial', 'w', 'w'`),
  },
  { invariant: completion, by: 'an event that is gone', given: 'failed', ...taking('ff_event') },
  {
    invariant: completion,
    by: 'a second event',
    given: 'failed',
    ...adding(
      'ff_event',
      'occurred_at_ms, execution_id, generation, event_type, outcome, partition_key, namespace, actor',
      `0, execution_id, 0, 'ended', 'failed', 0, 'default', 'x'`,
    ),
    repairs: `delete from flowfabric.ff_event where actor = 'x'`,
  },
  {
    invariant: 'the completion event has the stored outcome',
    by: 'another outcome',
    given: 'failed',
    ...changing('ff_event', 'outcome', `'success'`, `'failed'`),
  },
  {
    invariant: 'an execution that ended after a run has an ended record of its last attempt',
    by: 'an attempt that is gone',
    given: 'failed',
    ...taking('ff_attempt'),
  },
  {
    invariant: 'an execution that ended after a run has an ended record of its last attempt',
    by: 'an attempt that is open',
    given: 'failed',
    ...changing('ff_attempt', 'ended_at_ms', 'null', '1'),
  },
  { invariant: pairs, by: 'a cold row that is gone', given: 'waiting', ...taking('ff_exec_input') },
  {
    invariant: pairs,
    by: 'another partition',
    given: 'waiting',
    ...changing('ff_exec_input', 'partition_key', '(partition_key + 1) % 256', '(partition_key + 255) % 256'),
  },
  { invariant: pairs, by: 'a lane that is gone', given: 'waiting', ...taking('ff_lane_registry') },
  {
    invariant: pairs,
    by: 'another namespace',
    given: 'waiting',
    ...changing('ff_exec_core', 'namespace', `'other'`, `'default'`),
  },
  {
    invariant: suspension,
    by: 'a suspension that is gone',
    given: 'suspended',
    ...taking('ff_suspension_current'),
  },
  {
    invariant: suspension,
    by: 'a suspension of another attempt',
    given: 'suspended',
    ...changing('ff_suspension_current', 'attempt_index', '7', '0'),
  },
  {
    invariant: suspension,
    by: 'an execution that does not tell of it',
    given: 'suspended',
    ...changing('ff_exec_core', 'attached', '0', '2'),
  },
  {
    invariant: waitpoint,
    by: 'one that outlives its suspension',
    given: 'suspended',
    ...changing('ff_waitpoint_pending', 'suspension_id', `${noExecution}::uuid`, suspensionOfAll),
  },
  {
    invariant: waitpoint,
    by: 'one of which its execution does not tell',
    given: 'active',
    ...adding('ff_waitpoint_pending', waitpointColumns, unused),
  },
  {
    invariant: waitpoint,
    by: 'one of an execution that has ended',
    given: 'failed',
    ...adding('ff_waitpoint_pending', waitpointColumns, unused),
  },
  {
    invariant: signal,
    by: 'one that waits unseen',
    given: 'active',
    ...adding(
      'ff_signal',
      signalColumns,
      `execution_id, execution_id, 0, 0, 'kept_for_condition', 'n', 'c', 'token', 'i'`,
    ),
  },
  {
    invariant: takenSignal,
    by: 'one that was taken while its suspension waits on',
    given: 'suspended',
    ...adding(
      'ff_signal',
      `${signalColumns}, taken_at_ms, waitpoint_id`,
      `execution_id, execution_id, 0, 0, 'appended_to_waitpoint', 'n', 'c', 'token', 'i', 0,
        (select waitpoint_id from flowfabric.ff_waitpoint_pending)`,
    ),
  },
  {
    invariant: tag,
    by: 'a row that a claim would not read',
    given: 'waiting',
    ...adding('ff_exec_tag', tagColumns, `execution_id, 0, 'default', 'a', 'b'`),
  },
  ...(['attemptTimeoutMs', 'maxSignalCount'] as const).map((field) => ({
    invariant: bound,
    by: `${field} that no claim would read`,
    given: 'waiting' as const,
    ...changing('ff_exec_input', 'policy', `'{"${field}": 1000}'`, 'null'),
  })),
  {
    invariant: orphans,
    by: 'an orphaned suspension',
    given: 'suspended',
    ...adding(
      'ff_suspension_current',
      'execution_id, suspension_id, suspended_at_ms, closed_at_ms, close_reason, lease_epoch, lease_id, generation, attempt_index, partition_key, reason_code, timeout_behavior, requested_by, condition',
      `${noExecution}::uuid, ${noExecution}::uuid, 0, 1, 'resumed', 1, ${noExecution}::uuid, 0, 0, 0, 'manual_pause', 'fail', 'w', '{}'`,
    ),
  },
  orphan(
    'an orphaned waitpoint',
    'ff_waitpoint_pending',
    `${waitpointColumns}, closed_at_ms, close_reason`,
    `${noExecution}::uuid, 0, ${noExecution}::uuid, null, 0, null, 'closed', 'k', 'kid', 1, 'resumed'`,
  ),
  orphan(
    'an orphaned signal',
    'ff_signal',
    signalColumns,
    `${noExecution}::uuid, ${noExecution}::uuid, 0, 0, 'no_op', 'n', 'c', 'token', 'i'`,
  ),
  orphan('an orphaned tag', 'ff_exec_tag', tagColumns, `${noExecution}::uuid, 0, 'default', 'a', 'b'`),
  orphan(
    'an orphaned result',
    'ff_exec_result',
    'execution_id, generation, attempt_index, created_at_ms',
    `${noExecution}::uuid, 0, 0, 0`,
  ),
  orphan(
    'an orphaned dispatch row',
    'ff_dispatch',
    'execution_id, generation, created_at_ms, outcome',
    `${noExecution}::uuid, 0, 0, 'failed'`,
  ),
  orphan(
    'an orphaned attempt',
    'ff_attempt',
    'execution_id, attempt_index, generation, attempt_type, lease_epoch, started_at_ms, outcome',
    `${noExecution}::uuid, 0, 0, 'initial', 0, 0, 'success'`,
  ),
  orphan(
    'an orphaned request',
    'ff_request',
    'execution_id, request_id, answer, answered_at_ms',
    `${noExecution}::uuid, 'r', '{}', 0`,
  ),
  orphan('orphaned progress', 'ff_progress', 'execution_id, updated_at_ms', `${noExecution}::uuid, 0`),
  orphan(
    'an orphaned grant',
    'ff_grant',
    'execution_id, grant_id, granted_at_ms, expires_at_ms, worker_id, worker_instance_id',
    `${noExecution}::uuid, ${noExecution}::uuid, 0, 0, 'w', 'w'`,
  ),
  orphan(
    'an orphaned step',
    'ff_step',
    stepColumns,
    `${noExecution}::uuid, 0, 's', 0, 1, 0, 'step', 'succeeded', 1, 0, 1, 0, 0, 1`,
  ),
  {
    invariant: step,
    by: 'a step that was not counted',
    given: 'active',
    ...adding('ff_step', stepColumns, `execution_id, 0, 's', 0, 1, 0, 'step', 'succeeded', 1, 0, 1, 0, 0, 2`),
  },
  {
    invariant: step,
    by: 'a step of a generation to come',
    given: 'active',
    ...adding('ff_step', stepColumns, `execution_id, 1, 's', 0, 1, 0, 'step', 'succeeded', 1, 0, 1, 0, 0, 1`),
  },
  orphan(
    'an orphaned key',
    'ff_idempotency_key',
    'namespace, scope_id, idempotency_key, execution_id, expires_at_ms, request_hash',
    `'default', ${noExecution}::uuid, 'key', ${noExecution}::uuid, 0, '\\x00'::bytea`,
  ),
]

test.each(breakages)('$invariant: broken by $by', async ({ invariant, given, breaks, repairs }) => {
  const { sql } = await setup()
  const id = await factory(sql)[given]()
  expect(await checkInvariants(sql)).toEqual([])
  await sql.script(breaks)
  try {
    const broken = await checkInvariants(sql)
    expect(broken.map((violation) => violation.name)).toContain(invariant)
    const subjects = broken.find((violation) => violation.name === invariant)!.rows.map((row) => row.subject)
    expect([parseExecutionId(id).uuid, noExecution.replaceAll("'", '')]).toEqual(expect.arrayContaining(subjects))
  } finally {
    await sql.script(repairs)
  }
})

test('every invariant has a breakage', async () => {
  const named = new Set(breakages.map((breakage) => breakage.invariant))
  expect([...named].toSorted()).toEqual((await allInvariantNames()).toSorted())
})

/** A database that answers every query with a row breaks all of them. */
async function allInvariantNames(): Promise<string[]> {
  const row = { subject: 'x', found: 'y' }
  const answering = { pipeline: async (calls: readonly unknown[]) => calls.map(() => [row]) }
  const violations = await checkInvariants(answering as never)
  // The invariants of flows have a file of their own.
  const ofFlows = new Set<string>(flowInvariants.map(([sentence]) => sentence))
  return violations.map((violation) => violation.name).filter((name) => !ofFlows.has(name))
}
