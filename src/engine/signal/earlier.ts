// What an execution has received before. `at` is a row with its execution_id, partition_key and generation, and with the
// waitpoint_id and idempotency_key of a signal on its way in; a signal by name has no waitpoint. What a restart has carried
// along for its key alone is found by the key, and counted nowhere.
import { limits } from '../../model/limits.ts'

/** For a lateral join: the signal with the same key. A key holds at its waitpoint; by name, within the generation. */
export function signalOfSameKey(at: string): string {
  return `
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where ${at}.idempotency_key is not null and g.execution_id = any (array[${at}.execution_id])
    and ${hasSameKey(at)}
  limit 1`
}

function hasSameKey(at: string): string {
  return `g.idempotency_key = ${at}.idempotency_key
    and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)
      = coalesce(${at}.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)
    and (g.waitpoint_id is not null or g.generation = ${at}.generation)`
}

/** Whether none with its key came before, and its generation and its waitpoint have room for one more. */
export function isFirstWithRoom(at: string): string {
  return `(
      select count(*) filter (where g.generation = ${at}.generation and not g.is_carried) < ${mostSignalsOf(at)}
        and count(*) filter (where g.generation = ${at}.generation and g.waitpoint_id = ${at}.waitpoint_id)
          < ${limits.waitpointSignalCount}
        and count(*) filter (where ${hasSameKey(at)}) = 0
      from flowfabric.ff_signal g
      where g.execution_id = any (array[${at}.execution_id]))`
}

/** How many a generation may receive. */
export function mostSignalsOf(at: string): string {
  return `(
      select coalesce((n.policy ->> 'maxSignalCount')::int4, ${limits.signalCount})
      from flowfabric.ff_exec_input n
      where n.partition_key = any (array[${at}.partition_key]) and n.execution_id = any (array[${at}.execution_id]))`
}
