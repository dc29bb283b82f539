// Receives every signal: by token, by link, by name, or by the right of an operator. A sender without the right is
// refused before anything is locked. Most signals end a wait by themselves: one statement reads them, and one settles
// them. The general path locks the execution, authorizes the sender again, evaluates the condition with the signal, and
// writes the effect, including the resume: one transaction, two round trips.
import { EngineError } from '../../../model/errors.ts'
import type { Sql } from '../../../sql/sql.ts'
import type { CarriedHint, Hinting } from '../../kernel/hint.ts'
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
  hints: Hinting,
): SetOperation<Incoming, SignalResult> {
  const answers = new Answers(sql, keys, opened)
  // Kept in case the set is sent again after the database refused a signal on the general path.
  const settled = new WeakMap<Incoming, SignalResult | EngineError>()
  const settleAmong = async (items: readonly Incoming[], again: boolean): Promise<void> => {
    const found = await answers.among(items, again)
    for (const [item, refusal] of found.refused) settled.set(item, refusal)
    if (found.answers.length === 0) return
    for (const [item, result] of await settleSignals(sql, hints, found.answers)) settled.set(item, result)
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
        hint = decision.readyQueueIds.length === 0 ? null : hints.carriedBy(decision.readyQueueIds)
        return writesOf(decision, hint)
      },
      isAlone ? { lockTimeoutMs } : {},
    )
    if (decision.readyQueueIds.length > 0) hints.ring(new Set(decision.readyQueueIds), hint !== null)
    for (const { timer, inMs } of decision.timers) hints.due(timer, inMs)
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
      return items.map((item) => settled.get(item) ?? received[placeOf.get(item)!]!)
    },
    // `send` has authorized the sender before.
    sendAlone: async (item, again, lockTimeoutMs) => (await receive([item], again, lockTimeoutMs))[0]!,
  }
}

function isInvalid(outcome: Outcome<SignalResult>): boolean {
  return EngineError.is(outcome) && outcome.code === 'invalid_token'
}
