// Decides a set of signals: it evaluates those of each execution separately, and writes all decisions together.
import { EngineError } from '../../../model/errors.ts'
import type { HintedTimer } from '../../kernel/effects.ts'
import type { CarriedHint } from '../../kernel/hint.ts'
import { rowLocked, type Outcome } from '../../kernel/merge.ts'
import { byExecution, type SignalRow } from '../suspension/open-suspensions.ts'
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
  /** The queues of the executions that can be claimed at once. */
  readonly readyQueueIds: readonly number[]
  /** For executions that resume later, and for conditions that time alone will satisfy. */
  readonly timers: readonly { readonly timer: HintedTimer; readonly inMs: number }[]
}

interface TakingSuspension extends EvaluatedSuspension {
  /** Of the signals that satisfy it. */
  readonly takenNumbers: readonly number[]
}

/** The rows that were read after the locks. */
interface SignalRows {
  readonly locked: readonly { readonly execution_id: string }[]
  readonly found: readonly FoundTarget[]
  readonly signals: readonly SignalRow[]
}

export function decide(keys: SigningKeys, items: readonly Incoming[], rows: SignalRows): SignalDecision {
  const isLocked = new Set(rows.locked.map((row) => row.execution_id))
  const foundAt = new Map(rows.found.map((row) => [row.ordinal - 1, row]))
  const firstOf = new Map(rows.found.flatMap((row) => (row.is_first ? [[row.execution_id, row]] : [])))
  const signalsOf = byExecution(rows.signals)
  const waitpointCounts = new Map(
    rows.found.flatMap(({ ordinal, waitpoint_count: count }) =>
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
  const evaluated: TakingSuspension[] = []
  for (const [uuid, own] of arrivals) {
    const result = evaluateSignals(
      own.map(([, arrival]) => arrival),
      beforeOf(firstOf.get(uuid)!, signalsOf.get(uuid) ?? [], waitpointCounts),
    )
    for (const [place, [index]] of own.entries()) outcomes[index] = result.answers[place]!
    records.push(...result.records)
    if (result.evaluated !== null) evaluated.push(withNumbers(result.evaluated, result.records))
  }
  const ready = evaluated.filter((one) => one.evaluation.satisfied && delayOf(one) === 0)
  return {
    outcomes,
    records,
    suspensions: evaluated,
    readyQueueIds: ready.map(({ suspension }) => firstOf.get(suspension.uuid)!.queue_id),
    timers: evaluated.flatMap(timerOf),
  }
}

/** Some signals are stored, others arrive with this set. */
function withNumbers(evaluated: EvaluatedSuspension, records: readonly SignalRecord[]): TakingSuspension {
  const { evaluation, suspension } = evaluated
  const now = new Map(records.map(({ arrival: { item, found } }) => [item.signalId, found.signal_no]))
  return {
    ...evaluated,
    takenNumbers: evaluation.signals.map((id) => suspension.signalNumbers.get(id) ?? now.get(id)!),
  }
}

function delayOf({ suspension }: EvaluatedSuspension): number {
  return suspension.resumeDelayMs ?? 0
}

function timerOf(evaluated: EvaluatedSuspension): SignalDecision['timers'] {
  const { evaluation, at } = evaluated
  if (evaluation.dueAt !== null) return [{ timer: 'wake', inMs: evaluation.dueAt - at }]
  return evaluation.satisfied && delayOf(evaluated) > 0 ? [{ timer: 'delay', inMs: delayOf(evaluated) }] : []
}

/** Signals are written before their effects: that is also the order of the events. */
export function writesOf({ records, suspensions }: SignalDecision, hint: CarriedHint | null) {
  const satisfied = suspensions.filter(({ evaluation }) => evaluation.satisfied)
  const waiting = suspensions.filter(({ evaluation }) => !evaluation.satisfied)
  const taken = satisfied.flatMap(takenBefore)
  const now = satisfied.reduce((latest, { at }) => Math.max(latest, at), 0)
  const rearmed = waiting.map(({ suspension, evaluation }) => ({ uuid: suspension.uuid, wakeAt: evaluation.dueAt }))
  return [
    recordCall(records),
    wakeCall(satisfied.map(wakingOf), hint),
    ...(taken.length === 0 ? [] : [takeSignalsCall(taken, now)]),
    ...(rearmed.length === 0 ? [] : [rearmCall(rearmed)]),
  ] as const
}

function wakingOf({ suspension, evaluation, takenNumbers, answered, actor, at }: TakingSuspension): Waking {
  const { uuid, resumeDelayMs, condition } = suspension
  return {
    uuid,
    // Earlier events may satisfy the condition; the signal was only the reason to evaluate it.
    interruption: interruptionBy(evaluation, condition),
    delayMs: resumeDelayMs,
    wokenAt: at,
    actor,
    reason: null,
    closeReason: 'resumed',
    outcome: evaluation,
    answered,
    signalNumbers: takenNumbers,
  }
}

/** Signals of this set are recorded as taken; these are the earlier ones. */
function takenBefore({ suspension, evaluation }: EvaluatedSuspension): TakenSignal[] {
  const { uuid, suspensionId, signalNumbers } = suspension
  return evaluation.signals.flatMap((id) => {
    const signalNumber = signalNumbers.get(id)
    return signalNumber === undefined ? [] : [{ uuid, suspensionId, signalNumber }]
  })
}
