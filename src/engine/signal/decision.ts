// A set of signals: each execution's are judged by themselves, and what was decided is written for all of them together.
import { EngineError } from '../../model/errors.ts'
import { held, type Outcome } from '../merge.ts'
import type { OpenSuspension } from '../suspension/facts.ts'
import { rearmCall } from '../suspension/rearm.ts'
import { takeSignalsCall, type TakenSignal } from '../suspension/take-signals.ts'
import { interruptionBy, wakeCall, type Waking } from '../suspension/wake.ts'
import type { Wrapping } from '../signing-key/stored-key.ts'
import { admit, type Arrival } from './admit.ts'
import type { ReceivedCounts } from './count.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import { judge, type JudgedSuspension } from './judge.ts'
import type { FoundTarget } from './look.ts'
import { recordCall, type SignalRecord } from './record.ts'

export interface Decision {
  /** In the order of the items. */
  readonly outcomes: readonly Outcome<SignalResult>[]
  readonly records: readonly SignalRecord[]
  readonly suspensions: readonly JudgedSuspension[]
  /** After which what resumes can be claimed, where that is not at once. */
  readonly delays: readonly number[]
}

/** What was read behind the locks. */
interface Looked {
  readonly locked: readonly { readonly execution_id: string }[]
  readonly found: readonly FoundTarget[]
  readonly counts: ReadonlyMap<string, ReceivedCounts>
  readonly suspensions: ReadonlyMap<string, OpenSuspension>
}

export function decide(wrapping: Wrapping, items: readonly Incoming[], looked: Looked): Decision {
  const isLocked = new Set(looked.locked.map((row) => row.execution_id))
  const foundAt = new Map(looked.found.map((row) => [row.ordinal - 1, row]))
  const outcomes: Outcome<SignalResult>[] = []
  const arrivals = new Map<string, [index: number, arrival: Arrival][]>()
  for (const [index, item] of items.entries()) {
    const arrival = admit(wrapping, item, foundAt.get(index))
    outcomes[index] = EngineError.is(arrival) ? arrival : held
    if (EngineError.is(arrival) || !isLocked.has(arrival.found.execution_id)) continue
    const uuid = arrival.found.execution_id
    arrivals.set(uuid, [...(arrivals.get(uuid) ?? []), [index, arrival]])
  }
  const records: SignalRecord[] = []
  const judged: JudgedSuspension[] = []
  for (const [uuid, own] of arrivals) {
    const judgement = judge(
      own.map(([, arrival]) => arrival),
      { suspension: looked.suspensions.get(uuid), counts: looked.counts.get(uuid) ?? new Map<string | null, number>() },
    )
    for (const [place, [index]] of own.entries()) outcomes[index] = judgement.answers[place]!
    records.push(...judgement.records)
    if (judgement.judged !== null) judged.push(judgement.judged)
  }
  return { outcomes, records, suspensions: judged, delays: judged.flatMap(delayOf) }
}

function delayOf({ suspension: { resumeDelayMs }, verdict }: JudgedSuspension): number[] {
  return verdict.satisfied && resumeDelayMs !== null && resumeDelayMs > 0 ? [resumeDelayMs] : []
}

/** First what came, then what it did: that is also the order of the events. */
export function writesOf({ records, suspensions }: Decision) {
  const satisfied = suspensions.filter(({ verdict }) => verdict.satisfied)
  const waiting = suspensions.filter(({ verdict }) => !verdict.satisfied)
  const taken = satisfied.flatMap(takenBefore)
  const now = satisfied.reduce((latest, { at }) => Math.max(latest, at), 0)
  const rearmed = waiting.map(({ suspension, verdict }) => ({ uuid: suspension.uuid, wakeAt: verdict.dueAt }))
  return [
    recordCall(records),
    wakeCall(satisfied.map(wakingOf)),
    ...(taken.length === 0 ? [] : [takeSignalsCall(taken, now)]),
    ...(rearmed.length === 0 ? [] : [rearmCall(rearmed)]),
  ] as const
}

function wakingOf({ suspension, verdict, actor, at }: JudgedSuspension): Waking {
  const { uuid, resumeDelayMs, condition } = suspension
  return {
    uuid,
    // What had happened before may satisfy it, and the signal be only the occasion to look.
    interruption: interruptionBy(verdict, condition),
    delayMs: resumeDelayMs,
    wokenAt: at,
    actor,
    reason: null,
    closeReason: 'resumed',
    outcome: verdict,
  }
}

/** Those that come now are recorded as taken. */
function takenBefore({ suspension, verdict }: JudgedSuspension): TakenSignal[] {
  const { uuid, suspensionId, signalNumbers } = suspension
  return verdict.signals.flatMap((id) => {
    const signalNumber = signalNumbers.get(id)
    return signalNumber === undefined ? [] : [{ uuid, suspensionId, signalNumber }]
  })
}
