// Every signal comes in here, whichever way: its execution is locked, its sender admitted, the condition judged with the
// signal, and what that means is written, the resume included. One transaction, two round trips.
import type { Sql } from '../../sql/sql.ts'
import type { Outcome, SetOperation } from '../merge.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { factReads, openSuspensionsOf } from '../suspension/facts.ts'
import { countCall, countsOf } from './count.ts'
import { decide, writesOf, type Decision } from './decision.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import { lockCall, lookCall, waitpointUuidOf } from './look.ts'

export function receiveOperation(
  sql: Sql,
  { wrapping }: SigningKeys,
  onReady: (queueIds: Iterable<number>) => void,
  onDelay: (inMs: number) => void,
): SetOperation<Incoming, SignalResult> {
  const receive = async (
    items: readonly Incoming[],
    again: boolean,
    lockTimeoutMs?: number,
  ): Promise<readonly Outcome<SignalResult>[]> => {
    const isAlone = lockTimeoutMs !== undefined
    const executions = items.flatMap(({ target }) => (target.noun === 'execution' ? [target.uuid] : []))
    const waitpoints = items.flatMap((item) => waitpointUuidOf(item) ?? [])
    const reads = [
      lockCall(items, isAlone),
      lookCall(items, again),
      countCall(executions, waitpoints),
      ...factReads(executions, waitpoints),
    ] as const
    let decision!: Decision
    const [, woken] = await sql.decide(
      reads,
      ([locked, found, received, ...facts]) => {
        const suspensions = openSuspensionsOf(facts)
        decision = decide(wrapping, items, { locked, found, counts: countsOf(received), suspensions })
        return writesOf(decision)
      },
      isAlone ? { lockTimeoutMs } : {},
    )
    const ready = woken.filter((row) => row.delay_until_ms === null)
    if (ready.length > 0) onReady(new Set(ready.map((row) => row.queue_id)))
    if (decision.delays.length > 0) onDelay(Math.min(...decision.delays))
    return decision.outcomes
  }
  return {
    // Signals to one execution may share a set: they are judged one after the other.
    keyOf: (item) => item.signalId,
    isOneAtATime: true,
    bytesOf: (item) => item.payload?.byteLength ?? 0,
    send: (items, again) => receive(items, again),
    sendAlone: async (item, again, lockTimeoutMs) => (await receive([item], again, lockTimeoutMs))[0]!,
  }
}
