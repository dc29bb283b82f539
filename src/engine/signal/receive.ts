// Every signal comes in here, whichever way: its sender is admitted, the execution locked, its condition judged with the
// signal, and what that means is written, the resume included, in one transaction.
import { EngineError } from '../../model/errors.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Outcome, SetOperation } from '../merge.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { factReads, openSuspensionsOf } from '../suspension/facts.ts'
import { admit, type Admitted } from './admit.ts'
import { judgeAll, writesOf, type Decision } from './decision.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import { lockCall, lookCall } from './look.ts'

export function receiveOperation(
  sql: Sql,
  { wrapping }: SigningKeys,
  onReady: (queueIds: Iterable<number>) => void,
  onDelay: (inMs: number) => void,
): SetOperation<Incoming, SignalResult> {
  const receive = async (
    items: readonly Incoming[],
    again: boolean,
    lockTimeoutMs: number | null,
  ): Promise<Outcome<SignalResult>[]> => {
    const entries = await admit(sql, wrapping, items)
    const admitted = entries.flatMap((entry) => (EngineError.is(entry) ? [] : [entry]))
    if (admitted.length === 0) return entries.flatMap((entry) => (EngineError.is(entry) ? [entry] : []))
    const { outcomes, delays, readyQueueIds } = await decide(sql, admitted, again, lockTimeoutMs)
    if (readyQueueIds.size > 0) onReady(readyQueueIds)
    if (delays.length > 0) onDelay(Math.min(...delays))
    const decided = new Map<unknown, Outcome<SignalResult>>(admitted.map((entry, index) => [entry, outcomes[index]!]))
    return entries.map((entry) => (EngineError.is(entry) ? entry : decided.get(entry)!))
  }
  return {
    // Signals to one execution may share a set: they are judged one after the other.
    keyOf: (item) => item.signalId,
    bytesOf: (item) => item.payload?.byteLength ?? 0,
    send: (items, again) => receive(items, again, null),
    sendAlone: async (item, again, lockTimeoutMs) => (await receive([item], again, lockTimeoutMs))[0]!,
  }
}

/** Lock and look, then write and commit: two round trips. */
async function decide(
  sql: Sql,
  items: readonly Admitted[],
  again: boolean,
  lockTimeoutMs: number | null,
): Promise<Decision & { readonly readyQueueIds: ReadonlySet<number> }> {
  const isAlone = lockTimeoutMs !== null
  const uuids = new Set(items.map(({ uuid }) => uuid))
  const reads = [lockCall(items, isAlone), lookCall(items, again), ...factReads([...uuids])] as const
  let decision!: Decision
  const [, woken] = await sql.decide(
    reads,
    ([locked, found, ...facts]) => {
      const isLocked = new Set(locked.map((row) => row.execution_id))
      decision = judgeAll(items, isLocked, found, openSuspensionsOf(facts))
      return writesOf(decision)
    },
    isAlone ? { lockTimeoutMs } : {},
  )
  const ready = woken.filter((row) => row.delay_until_ms === null)
  return { ...decision, readyQueueIds: new Set(ready.map((row) => row.queue_id)) }
}
