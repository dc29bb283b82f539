// A set of signals: each execution's are judged by themselves, and what was decided is written for all of them together.
import { EngineError } from '../../../model/errors.ts'
import type { CarriedHint, HintedTimer } from '../../kernel/hint.ts'
import { rowLocked, type Outcome } from '../../kernel/merge.ts'
import { byExecution, type SignalRow } from '../suspension/facts.ts'
import { rearmCall } from '../suspension/rearm.ts'
import { takeSignalsCall, type TakenSignal } from '../../transition/take-signals.ts'
import { interruptionBy, wakeCall, type Waking } from '../../transition/wake.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { admit, type Arrival } from './admit.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import { evaluateSignals, type EvaluatedSuspension } from './evaluate.ts'
import { beforeOf, type FoundTarget } from './read-locked.ts'
import { recordCall, type SignalRecord } from './record.ts'

export interface SignalDecision {
  /** In the order of the items. */
  readonly outcomes: readonly Outcome<SignalResult>[]
  readonly records: readonly SignalRecord[]
  readonly suspensions: readonly TakingSuspension[]
  /** Of what can be claimed at once. */
  readonly readyQueueIds: readonly number[]
  /** Of what resumes later, and of what time alone will satisfy. */
  readonly timers: readonly { readonly timer: HintedTimer; readonly inMs: number }[]
}

interface TakingSuspension extends EvaluatedSuspension {
  /** Of the signals that satisfy it. */
  readonly takenNumbers: readonly number[]
}

/** What was read behind the locks. */
interface SignalRows {
  readonly locked: readonly { readonly execution_id: string }[]
  readonly found: readonly FoundTarget[]
  readonly signals: readonly SignalRow[]
}

export function decide(keys: SigningKeys, items: readonly Incoming[], looked: SignalRows): SignalDecision {
  const isLocked = new Set(looked.locked.map((row) => row.execution_id))
  const foundAt = new Map(looked.found.map((row) => [row.ordinal - 1, row]))
  const firstOf = new Map(looked.found.flatMap((row) => (row.is_first ? [[row.execution_id, row]] : [])))
  const signalsOf = byExecution(looked.signals)
  const waitpointCounts = new Map(
    looked.found.flatMap(({ ordinal, waitpoint_count: count }) =>
      count === null ? [] : [[items[ordinal - 1]!.target.uuid, count]],
    ),
  )
  const outcomes: Outcome<SignalResult>[] = []
  const arrivals = new Map<string, [index: number, arrival: Arrival][]>()
  for (const [index, item] of items.entries()) {
    const arrival = admit(keys, item, foundAt.get(index))
    outcomes[index] = EngineError.is(arrival) ? arrival : rowLocked
    if (EngineError.is(arrival) || !isLocked.has(arrival.found.execution_id)) continue
    const uuid = arrival.found.execution_id
    const own = arrivals.get(uuid)
    if (own === undefined) arrivals.set(uuid, [[index, arrival]])
    else own.push([index, arrival])
  }
  const records: SignalRecord[] = []
  const judged: TakingSuspension[] = []
  for (const [uuid, own] of arrivals) {
    const judgement = evaluateSignals(
      own.map(([, arrival]) => arrival),
      beforeOf(firstOf.get(uuid)!, signalsOf.get(uuid) ?? [], waitpointCounts),
    )
    for (const [place, [index]] of own.entries()) outcomes[index] = judgement.answers[place]!
    records.push(...judgement.records)
    if (judgement.judged !== null) judged.push(withNumbers(judgement.judged, judgement.records))
  }
  const ready = judged.filter((one) => one.verdict.satisfied && delayOf(one) === 0)
  return {
    outcomes,
    records,
    suspensions: judged,
    readyQueueIds: ready.map(({ suspension }) => firstOf.get(suspension.uuid)!.queue_id),
    timers: judged.flatMap(timerOf),
  }
}

/** Some came before, others come now. */
function withNumbers(judged: EvaluatedSuspension, records: readonly SignalRecord[]): TakingSuspension {
  const { verdict, suspension } = judged
  const now = new Map(records.map(({ arrival: { item, found } }) => [item.signalId, found.signal_no]))
  return { ...judged, takenNumbers: verdict.signals.map((id) => suspension.signalNumbers.get(id) ?? now.get(id)!) }
}

function delayOf({ suspension }: EvaluatedSuspension): number {
  return suspension.resumeDelayMs ?? 0
}

function timerOf(judged: EvaluatedSuspension): SignalDecision['timers'] {
  const { verdict, at } = judged
  if (verdict.dueAt !== null) return [{ timer: 'wake', inMs: verdict.dueAt - at }]
  return verdict.satisfied && delayOf(judged) > 0 ? [{ timer: 'delay', inMs: delayOf(judged) }] : []
}

/** First what came, then what it did: that is also the order of the events. */
export function writesOf({ records, suspensions }: SignalDecision, hint: CarriedHint | null) {
  const satisfied = suspensions.filter(({ verdict }) => verdict.satisfied)
  const waiting = suspensions.filter(({ verdict }) => !verdict.satisfied)
  const taken = satisfied.flatMap(takenBefore)
  const now = satisfied.reduce((latest, { at }) => Math.max(latest, at), 0)
  const rearmed = waiting.map(({ suspension, verdict }) => ({ uuid: suspension.uuid, wakeAt: verdict.dueAt }))
  return [
    recordCall(records),
    wakeCall(satisfied.map(wakingOf), hint),
    ...(taken.length === 0 ? [] : [takeSignalsCall(taken, now)]),
    ...(rearmed.length === 0 ? [] : [rearmCall(rearmed)]),
  ] as const
}

function wakingOf({ suspension, verdict, takenNumbers, answered, actor, at }: TakingSuspension): Waking {
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
    answered,
    signalNumbers: takenNumbers,
  }
}

/** Those that come now are recorded as taken. */
function takenBefore({ suspension, verdict }: EvaluatedSuspension): TakenSignal[] {
  const { uuid, suspensionId, signalNumbers } = suspension
  return verdict.signals.flatMap((id) => {
    const signalNumber = signalNumbers.get(id)
    return signalNumber === undefined ? [] : [{ uuid, suspensionId, signalNumber }]
  })
}
