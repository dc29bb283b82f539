// The signals that an execution received before. `at` is a row with its execution_id, partition_key, generation and
// attached, and with the waitpoint_id and idempotency_key of an incoming signal; a signal by name has no waitpoint. No
// statement here reads all signals of an execution: a long-lived one may have thousands.
import { attached } from '../../model/attached.ts'
import { limits } from '../../model/limits.ts'
import { doorSql } from '../transition/untaken-signals.ts'

/**
 * For a lateral join: the signal with the same key. A key is unique at its waitpoint; by name, within the generation.
 */
export function signalOfSameKey(at: string): string {
  return `
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where ${at}.idempotency_key is not null and g.execution_id = any (array[${at}.execution_id])
    and g.idempotency_key = ${at}.idempotency_key
    and ${doorSql('g')} = ${doorSql(at)}
    and (g.waitpoint_id is not null or g.generation = ${at}.generation)
  limit 1`
}

/**
 * How many its generation has received: the newest record has the count, and a record of an earlier generation means
 * none.
 */
export function receivedCount(at: string): string {
  return `coalesce((
      select case when g.generation = ${at}.generation then g.received_count end
      from flowfabric.ff_signal g
      where g.execution_id = ${at}.execution_id
      order by g.signal_no desc
      limit 1), 0)`
}

/** How many are stored at its waitpoint. While that is open none of them is taken: taking one closes it. */
export function countAtWaitpoint(at: string): string {
  return `(
      select count(*)
      from flowfabric.ff_signal g
      where g.execution_id = ${at}.execution_id and ${doorSql('g')} = ${at}.waitpoint_id and g.taken_at_ms is null)`
}

/**
 * Whether no earlier signal has its key, and its generation, which has received `count`, and its waitpoint have room
 * for one more.
 */
export function isFirstWithRoom(at: string, count: string): string {
  return `${count} < ${mostSignalsOf(at)}
    and case when ${at}.waitpoint_id is null or ${count} < ${limits.waitpointSignalCount} then true
      else ${countAtWaitpoint(at)} < ${limits.waitpointSignalCount} end
    and case when ${at}.idempotency_key is null then true
      else not exists (${signalOfSameKey(at)}) end`
}

/** How many a generation may receive. */
export function mostSignalsOf(at: string): string {
  return `case when ${at}.attached & ${attached.signalLimit} = 0 then ${limits.signalCount} else (
      select (n.policy ->> 'maxSignalCount')::int4
      from flowfabric.ff_exec_input n
      where n.partition_key = any (array[${at}.partition_key]) and n.execution_id = any (array[${at}.execution_id])) end`
}
