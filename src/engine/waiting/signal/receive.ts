// Receives every signal: by token, by link, by name, or by the right of an operator. A sender without the right is
// refused before anything is locked. Most signals end a wait by themselves: one statement reads them, and one settles
// them. The general path locks the execution, authorizes the sender again, evaluates the condition with the signal, and
// writes the effect, including the resume: one transaction, two round trips.
import { EngineError } from '../../../model/errors.ts'
import type { Sql } from '../../../sql/sql.ts'
import { Unpublished, type Effects, type HintedTimer } from '../../kernel/effects.ts'
import type { CarriedHint, HintCarrier } from '../../kernel/hint.ts'
import type { Outcome, SetOperation } from '../../kernel/merge.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { openSignalsCall } from '../suspension/open-suspensions.ts'
import type { OpenedWaitpoints } from '../waitpoint/opened.ts'
import { Answers } from './answerable.ts'
import { decide, writesOf, type SignalDecision } from './decision.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import { lockCall, readCall, waitpointUuidOf } from './read-locked.ts'
import { settleSignals } from './settle.ts'

export function receiveOperation(
  sql: Sql,
  keys: SigningKeys,
  opened: OpenedWaitpoints,
  carrier: HintCarrier,
): SetOperation<Incoming, SignalResult> {
  const answers = new Answers(sql, keys, opened)
  // Kept in case the set is sent again after the database refused a signal on the general path.
  const settled = new WeakMap<Incoming, SignalResult | EngineError>()
  const unpublished = new Unpublished()
  const settleAmong = async (items: readonly Incoming[], again: boolean): Promise<void> => {
    const found = await answers.among(items, again)
    for (const [item, refusal] of found.refused) settled.set(item, refusal)
    if (found.answers.length === 0) return
    const { answer, effects } = await settleSignals(sql, carrier, found.answers)
    unpublished.add(effects)
    for (const [item, result] of answer) settled.set(item, result)
  }
  const receive = async (
    items: readonly Incoming[],
    again: boolean,
    lockTimeoutMs?: number,
  ): Promise<readonly Outcome<SignalResult>[]> => {
    const isAlone = lockTimeoutMs !== undefined
    const executions = items.flatMap(({ target }) => (target.noun === 'execution' ? [target.uuid] : []))
    const waitpoints = items.flatMap((item) => waitpointUuidOf(item) ?? [])
    const reads = [lockCall(items, isAlone), readCall(items, again), openSignalsCall(executions, waitpoints)] as const
    let decision!: SignalDecision
    let hint: CarriedHint | null = null
    await sql.decide(
      reads,
      ([locked, found, signals]) => {
        decision = decide(keys, items, { locked, found, signals })
        hint = decision.readyQueueIds.length === 0 ? null : carrier.carriedBy(decision.readyQueueIds)
        return writesOf(decision, hint)
      },
      isAlone ? { lockTimeoutMs } : {},
    )
    unpublished.add(effectsOf(decision, hint !== null))
    for (const { arrival, isTaken } of decision.records) if (isTaken) answers.missed(arrival.item)
    for (const [index, item] of items.entries()) if (isInvalid(decision.outcomes[index]!)) answers.refused(item)
    return decision.outcomes
  }
  return {
    // Signals to one execution may share a set: they are evaluated one after the other.
    keyOf: (item) => item.signalId,
    rowOf: ({ target }) => target.uuid,
    bytesOf: (item) => item.payload?.byteLength ?? 0,
    async send(items, again) {
      await settleAmong(
        items.filter((item) => !settled.has(item)),
        again,
      )
      const others = items.filter((item) => !settled.has(item))
      const received = others.length === 0 ? [] : await receive(others, again)
      const placeOf = new Map(others.map((item, place) => [item, place]))
      const outcomes = items.map((item) => settled.get(item) ?? received[placeOf.get(item)!]!)
      return { outcomes, effects: unpublished.take() }
    },
    // `send` has authorized the sender before.
    async sendAlone(item, again, lockTimeoutMs) {
      const outcomes = await receive([item], again, lockTimeoutMs)
      return { outcomes, effects: unpublished.take() }
    },
  }
}

function effectsOf({ readyQueueIds: queueIds, timers }: SignalDecision, isNotified: boolean): Effects {
  const ready = [...new Set(queueIds)]
  const dueInMs: Partial<Record<HintedTimer, number>> = {}
  for (const { timer, inMs } of timers) dueInMs[timer] = Math.min(dueInMs[timer] ?? inMs, inMs)
  const others = { dueInMs, wroteEvents: true }
  return isNotified ? { notifiedQueueIds: ready, ...others } : { readyQueueIds: ready, ...others }
}

function isInvalid(outcome: Outcome<SignalResult>): boolean {
  return EngineError.is(outcome) && outcome.code === 'invalid_token'
}
