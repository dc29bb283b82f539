// Evaluates the signals to one execution, in their order, under its lock. Pure: everything was read before, and the
// result is written afterwards.
import { receive, type Received } from '../../../model/condition-receive.ts'
import type { Evaluation } from '../../../model/condition-evaluate.ts'
import { readsPayloads, namesTakenBy } from '../../../model/condition-waits.ts'
import { EngineError } from '../../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import { signalHint } from '../../../model/signal-hint.ts'
import type { SignalEffect } from '../../../model/signal.ts'
import type { OpenSuspension } from '../suspension/open-suspensions.ts'
import type { Arrival } from './admit.ts'
import { answeredBy } from '../../transition/wake.ts'
import { conditionSignalOf } from './condition-signal.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import type { Before, FoundTarget } from './read-locked.ts'
import type { SignalRecord } from './record.ts'

export interface SignalEvaluation {
  /** In the order of the arrivals. */
  readonly answers: readonly (SignalResult | EngineError)[]
  readonly records: readonly SignalRecord[]
  /** The suspension as it was found, if there is one and signals were evaluated against its condition. */
  readonly evaluated: EvaluatedSuspension | null
}

export interface EvaluatedSuspension {
  readonly suspension: OpenSuspension
  readonly evaluation: Evaluation
  /** The keys of the waitpoints of the signals in the decision. */
  readonly answered: readonly string[]
  /** The sender of the last evaluated signal, and its time. */
  readonly actor: string
  readonly at: number
}

export function evaluateSignals(arrivals: readonly Arrival[], before: Before): SignalEvaluation {
  const mailbox = new Mailbox(before, receivedBy(arrivals, before))
  const answers = arrivals.map((arrival) => mailbox.take(arrival))
  return { answers, records: mailbox.records(), evaluated: mailbox.evaluated }
}

/**
 * The effects on the condition, evaluated all at once: while nothing satisfies it, each signal is evaluated against it.
 */
function receivedBy(arrivals: readonly Arrival[], before: Before): Received | null {
  const { suspension } = before
  if (suspension === undefined) return null
  const mailbox = new Mailbox(before, null)
  for (const arrival of arrivals) mailbox.take(arrival)
  if (mailbox.evaluatedArrivals.length === 0) return null
  const { condition, input } = suspension
  const withPayload = readsPayloads(condition)
  const signals = mailbox.evaluatedArrivals.map((arrival) => conditionSignalOf(arrival, withPayload))
  return receive(condition, { ...input, now: arrivals[0]!.found.now_ms }, signals)
}

/** Changes with each signal: its effect counts for the next. */
class Mailbox {
  readonly #received: Received | null
  /** In their order. */
  readonly evaluatedArrivals: Arrival[] = []
  readonly #records: SignalRecord[] = []
  readonly #answers = new Map<string, SignalResult | EngineError>()
  readonly #waitpointCounts: Before['waitpointCounts']
  /** How many are recorded by this set, by the waitpoint's uuid. */
  readonly #more = new Map<string, number>()
  readonly #most: number
  #count: number
  /** Undefined without a suspension, and after the signal that satisfies it. */
  #open: OpenSuspension | undefined
  evaluated: EvaluatedSuspension | null = null

  /** Without received signals nothing satisfies the condition. */
  constructor({ suspension, receivedCount, waitpointCounts, mostSignals }: Before, received: Received | null) {
    this.#received = received
    this.#open = suspension
    this.#most = mostSignals
    this.#count = receivedCount
    this.#waitpointCounts = waitpointCounts
  }

  take(arrival: Arrival): SignalResult | EngineError {
    const first = this.#first(arrival)
    if (first !== null) return first
    const answer = this.#evaluate(arrival)
    const { idempotencyKey } = arrival.item
    if (idempotencyKey !== null) this.#answers.set(nameOf(arrival, idempotencyKey), answer)
    return answer
  }

  /** The effects of those that satisfied the condition are known only at the end. */
  records(): readonly SignalRecord[] {
    const { evaluated } = this
    if (evaluated === null) return this.#records
    const taken = new Set(evaluated.evaluation.signals)
    const { suspensionId } = evaluated.suspension
    return this.#records.map((record) =>
      taken.has(record.arrival.item.signalId) ? { ...record, suspensionId, isTaken: true } : record,
    )
  }

  /** The result of an earlier signal with the same key; null without one. */
  #first(arrival: Arrival): SignalResult | EngineError | null {
    const { item, found } = arrival
    const { idempotencyKey, signalId } = item
    const inThisSet = idempotencyKey === null ? undefined : this.#answers.get(nameOf(arrival, idempotencyKey))
    if (inThisSet !== undefined) return EngineError.is(inThisSet) ? inThisSet : { ...inThisSet, kind: 'duplicate' }
    const { first_signal_id: firstId, first_effect: effect } = found
    if (firstId === null || effect === null) return null
    if (effect === 'no_op') return this.#tooLate(arrival) ?? ended(item, found)
    return { ...resultOf(arrival, effect), signalId: firstId, kind: firstId === signalId ? 'accepted' : 'duplicate' }
  }

  #evaluate(arrival: Arrival): SignalResult | EngineError {
    const late = this.#tooLate(arrival)
    const full = this.#tooMany(arrival)
    if (late !== null) {
      if (full === null) this.#record(arrival, 'no_op', null)
      return late
    }
    if (full !== null) return full
    const open = this.#open
    const effect = this.#receive(arrival)
    const hint = effect === 'kept_for_condition' && open !== undefined ? hintOf(arrival, open) : undefined
    return { ...resultOf(arrival, effect), ...(hint !== undefined && { hint }) }
  }

  #tooLate({ item, found }: Arrival): EngineError | null {
    if (found.lifecycle_phase === 'terminal') return ended(item, found)
    if (item.target.noun === 'execution') return null
    switch (found.waitpoint_state) {
      case 'pending':
        // The duty that closes it may not have run yet.
        return (found.waitpoint_expires_at_ms ?? Infinity) <= found.now_ms ? waitpointClosed(item) : null
      case 'active':
        // A token never signals a later suspension than the one that it was issued for.
        if (found.waitpoint_suspension_id === this.#open?.suspensionId) return null
        return this.#isKept(found) ? null : waitpointClosed(item)
      default:
        return waitpointClosed(item)
    }
  }

  /** An earlier signal of this set has ended the suspension, which keeps the waitpoint for the next. */
  #isKept({ waitpoint_suspension_id: suspensionId, waitpoint_key: key }: FoundTarget): boolean {
    if (this.#open !== undefined || this.evaluated === null) return false
    const { suspension, answered } = this.evaluated
    return suspension.keepsWaitpoints && suspension.suspensionId === suspensionId && !answered.includes(key!)
  }

  #tooMany({ item, found }: Arrival): EngineError | null {
    const { noun, uuid, partition } = item.target
    const atWaitpoint = (this.#waitpointCounts.get(uuid) ?? 0) + (this.#more.get(uuid) ?? 0)
    if (noun === 'waitpoint' && atWaitpoint >= limits.waitpointSignalCount) {
      const waitpointId = formatWaitpointId(partition, uuid)
      const sentence = `waitpoint ${waitpointId} has received ${atWaitpoint} signals, the maximum for one waitpoint`
      return new EngineError('signal_limit_exceeded', sentence, { waitpointId, limit: limits.waitpointSignalCount })
    }
    const count = this.#count
    if (count < this.#most) return null
    const executionId = formatExecutionId(partition, found.execution_id)
    const sentence = `execution ${executionId} has received ${count} signals, the maximum that its policy allows`
    return new EngineError('signal_limit_exceeded', sentence, { executionId, limit: this.#most })
  }

  #receive(arrival: Arrival): SignalEffect {
    const { item, found } = arrival
    const byName = item.target.noun === 'execution'
    if (!byName && (found.waitpoint_state === 'pending' || this.#isKept(found))) {
      return this.#record(arrival, 'buffered_for_pending_waitpoint', null)
    }
    const open = this.#open
    if (open === undefined) return this.#record(arrival, 'kept_for_condition', null)
    this.evaluatedArrivals.push(arrival)
    const suspensionId = byName ? null : open.suspensionId
    if (this.#received === null) return this.#record(arrival, 'appended_to_waitpoint', suspensionId)
    const { evaluation, effects } = this.#received
    const place = this.evaluatedArrivals.length - 1
    const signals = [...open.input.signals, ...this.evaluatedArrivals.map((each) => conditionSignalOf(each, false))]
    this.evaluated = {
      suspension: open,
      evaluation,
      answered: evaluation.satisfied ? answeredBy(evaluation, signals) : [],
      actor: item.actor,
      at: found.now_ms,
    }
    if (evaluation.satisfied && place === effects.length - 1) this.#open = undefined
    return this.#record(arrival, effects[place]!, suspensionId)
  }

  #record(arrival: Arrival, effect: SignalEffect, suspensionId: string | null): SignalEffect {
    const { uuid } = arrival.item.target
    this.#more.set(uuid, (this.#more.get(uuid) ?? 0) + 1)
    this.#count += 1
    this.#records.push({ arrival, effect, suspensionId, isTaken: false, receivedCount: this.#count })
    return effect
  }
}

// A key is unique at its waitpoint; for signals by name, within the generation of the execution.
function nameOf({ item }: Arrival, idempotencyKey: string): string {
  return `${item.target.uuid} ${idempotencyKey}`
}

function resultOf({ item, found }: Arrival, effect: SignalEffect): SignalResult {
  const executionId = formatExecutionId(item.target.partition, found.execution_id)
  return { kind: 'accepted', executionId, signalId: item.signalId, effect }
}

function hintOf({ item }: Arrival, { condition }: OpenSuspension): string | undefined {
  return signalHint(item.name, namesTakenBy(condition), 'the execution waits for')
}

function waitpointClosed({ target }: Incoming): EngineError {
  const waitpointId = formatWaitpointId(target.partition, target.uuid)
  const sentence = `waitpoint ${waitpointId} is closed and accepts no more signals`
  return new EngineError('waitpoint_closed', sentence, { waitpointId })
}

function ended({ target }: Incoming, { execution_id: uuid, public_state: state }: FoundTarget): EngineError {
  const executionId = formatExecutionId(target.partition, uuid)
  const sentence = `execution ${executionId} is ${state}; only an execution that has not ended accepts signals`
  return new EngineError('target_not_signalable', sentence, { executionId, publicState: state })
}
