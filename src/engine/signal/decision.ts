// A set of signals: each execution's are judged by themselves, and what was decided is written for all of them together.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId } from '../../model/id.ts'
import { held, type Outcome } from '../merge.ts'
import type { OpenSuspension } from '../suspension/facts.ts'
import { rearmCall } from '../suspension/rearm.ts'
import { takeSignalsCall, type TakenSignal } from '../suspension/take-signals.ts'
import { interruptionBy, wakeCall, type Waking } from '../suspension/wake.ts'
import type { Admitted } from './admit.ts'
import type { SignalResult } from './incoming.ts'
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

export function judgeAll(
  items: readonly Admitted[],
  isLocked: ReadonlySet<string>,
  found: readonly FoundTarget[],
  suspensions: ReadonlyMap<string, OpenSuspension>,
): Decision {
  const foundAt = new Map(found.map((row) => [row.ordinal - 1, row]))
  const outcomes = items.map((item, index): Outcome<SignalResult> => (foundAt.has(index) ? held : notFound(item)))
  const records: SignalRecord[] = []
  const judged: JudgedSuspension[] = []
  for (const [uuid, indexes] of placesOf(items)) {
    const arrived = indexes.filter((index) => foundAt.has(index) && isLocked.has(uuid))
    const arrivals = arrived.map((index) => ({ admitted: items[index]!, found: foundAt.get(index)! }))
    const judgement = judge(arrivals, suspensions.get(uuid))
    for (const [place, index] of arrived.entries()) outcomes[index] = judgement.answers[place]!
    records.push(...judgement.records)
    if (judgement.judged !== null) judged.push(judgement.judged)
  }
  const delays = judged.flatMap(({ suspension: { resumeDelayMs }, verdict }) =>
    verdict.satisfied && resumeDelayMs !== null && resumeDelayMs > 0 ? [resumeDelayMs] : [],
  )
  return { outcomes, records, suspensions: judged, delays }
}

/** By the execution: where its signals stand among the items. */
function placesOf(items: readonly Admitted[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [index, { uuid }] of items.entries()) {
    const group = places.get(uuid)
    if (group === undefined) places.set(uuid, [index])
    else group.push(index)
  }
  return places
}

function notFound({ uuid, partition }: Admitted): EngineError {
  const executionId = formatExecutionId(partition, uuid)
  return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
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
