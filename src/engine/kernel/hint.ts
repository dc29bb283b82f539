// Hints: a notification that an execution became ready, that a timer is due soon, that a flow has ended, or that a run was
// stopped. A hint saves the wait for the next poll and guarantees nothing: every waiter polls too, and a waiter that a hint
// wakes may find nothing.
//
// Hints reach the waiters of this process directly. The others receive them by NOTIFY, in a transaction of its own after the
// commit: inside it, NOTIFY takes a lock that halves the throughput (measured). Hints are sent one at a time, and the next
// one carries all that arrived meanwhile. It is sent a turn of the event loop later, behind the next statement of the
// caller, which would otherwise wait for it (measured: a tenth of suspend, signal and claim).
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Effects, HintedTimer } from './effects.ts'
import { Watch } from './watch.ts'

// A crash may lose a hint, so its commit does not wait for the disk.
const notify = statement({
  name: 'hint.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `
select set_config('synchronous_commit', 'off', true) is not null and pg_notify($1, $2) is not null as sent`,
})

// A hint for more queues than this names none, and every waiter queries every queue.
const mostNamed = 500

// The hinted timers and how far ahead they are announced. The supervisor polls at least that often anyway.
const timers: Readonly<Record<HintedTimer, { readonly column: string; readonly longestMs: number }>> = {
  delay: { column: 'ff_exec_core.delay_until_ms', longestMs: 1000 },
  timeout: { column: 'ff_suspension_current.timeout_at_ms', longestMs: 2000 },
  wake: { column: 'ff_suspension_current.wake_at_ms', longestMs: 1000 },
}

const flowWord = 'flow'
const stoppedWord = 'off'
// Ids are longer than queues, and a payload has at most 8,000 bytes.
const mostFlowsNamed = 50
const mostStoppedNamed = 50
// Own hints that never return, for example because a pooler drops them.
const mostEchoes = 1000

// Between two writes that carry their own hint; the other hints are sent one at a time. Sets that follow one another under
// load are closer together; a caller that sends one call after the other is not (measured: a twentieth of suspend, signal
// and claim).
const quietMs = 2

export interface CarriedHint {
  readonly channel: string
  readonly payload: string
}

/** Decides whether a write carries the hint for its ready queues in its own transaction. */
export type HintCarrier = Pick<Hints, 'carriedBy' | 'carrier'>

/** Hints that are not sent yet. */
interface Unsent {
  readonly queueIds: Set<number>
  readonly dueMs: Map<HintedTimer, number>
  readonly flowIds: Set<string>
  readonly stoppedIds: Set<string>
}

export class Hints {
  readonly #sql: Sql
  readonly #channel: string
  readonly #watches = new Set<Watch<number>>()
  readonly #flowWatches = new Set<Watch<string>>()
  readonly #onQueue: (queueId: number | null) => void
  readonly #onDue = new Set<(column: string, inMs: number) => void>()
  readonly #onStoppedRun = new Set<(executionId: string | null) => void>()
  /** Stopped runs that this process has announced: their hints return to it. */
  readonly #echoes = new Set<string>()
  /** A timer that is due later than this needs no hint: the poll for the announced one finds it. */
  readonly #announcedUntil = new Map<HintedTimer, number>()
  #unsent = nothingUnsent()
  #isSending = false
  #sent: Promise<void> = Promise.resolve()
  #quietUntil = 0
  #isListening = false

  /** `onQueue` receives the queues that a hint names, and null when any queue may have changed. */
  constructor(sql: Sql, onQueue: (queueId: number | null) => void) {
    this.#sql = sql
    this.#channel = channelOf(sql.schema)
    this.#onQueue = onQueue
  }

  /**
   * The hint that the next write may carry in its own transaction, which saves a round trip. Null under load, where it would
   * block the commits of others.
   */
  carriedBy(queueIds: readonly number[]): CarriedHint | null {
    const channel = this.carrier()
    const named = new Set(queueIds)
    return channel === null || named.size > mostNamed ? null : { channel, payload: [...named].join() }
  }

  /** The same for a write that names the queues itself, joined by commas: the channel, or null. */
  carrier(): string | null {
    if (this.#sql.kind === 'embedded' || this.#isSending || performance.now() < this.#quietUntil) return null
    return this.#channel
  }

  /** The hint for a transaction of the caller, which sends it with its commit; null if the effects need none. */
  hintOf({ readyQueueIds, stoppedRunIds, dueInMs }: Effects): CarriedHint | null {
    const unsent = nothingUnsent()
    for (const id of readyQueueIds ?? []) unsent.queueIds.add(id)
    for (const id of stoppedRunIds ?? []) unsent.stoppedIds.add(id)
    for (const [timer, inMs] of timersOf(dueInMs)) if (inMs <= timers[timer].longestMs) unsent.dueMs.set(timer, inMs)
    return isEmpty(unsent) ? null : { channel: this.#channel, payload: payloadOf(unsent) }
  }

  /** Notifies this process of what a committed write has changed, and sends a hint to the others. */
  publish({ readyQueueIds, notifiedQueueIds, dueInMs, endedFlowIds, stoppedRunIds }: Effects): void {
    if (notifiedQueueIds !== undefined) this.#publishQueues(notifiedQueueIds, true)
    if (readyQueueIds !== undefined) this.#publishQueues(readyQueueIds, false)
    if (dueInMs !== undefined) for (const [timer, inMs] of timersOf(dueInMs)) this.#publishTimer(timer, inMs)
    if (endedFlowIds !== undefined) this.#publishFlows(endedFlowIds)
    if (stoppedRunIds !== undefined) this.#publishStopped(stoppedRunIds)
    if (!this.#isSending && !isEmpty(this.#unsent)) this.#startSending()
  }

  get #hasOthers(): boolean {
    return this.#sql.kind !== 'embedded'
  }

  #publishQueues(queueIds: readonly number[], isNotified: boolean): void {
    if (queueIds.length === 0) return
    this.#quietUntil = performance.now() + quietMs
    for (const id of queueIds) {
      if (!isNotified && this.#hasOthers) this.#unsent.queueIds.add(id)
      this.#notifyQueue(id)
    }
  }

  #publishTimer(timer: HintedTimer, inMs: number): void {
    const now = performance.now()
    const announcedUntil = this.#announcedUntil.get(timer) ?? 0
    if (inMs > timers[timer].longestMs || (announcedUntil > now && announcedUntil <= now + inMs)) return
    this.#announcedUntil.set(timer, now + inMs)
    this.#notifyDue(timer, inMs)
    if (this.#hasOthers) this.#unsent.dueMs.set(timer, inMs)
  }

  #publishFlows(flowIds: readonly string[]): void {
    for (const id of flowIds) {
      this.#notifyFlow(id)
      if (this.#hasOthers) this.#unsent.flowIds.add(id)
    }
  }

  #publishStopped(ids: readonly string[]): void {
    if (ids.length > mostStoppedNamed) this.#notifyStopped(null)
    else for (const id of ids) this.#notifyStopped(id)
    if (this.#hasOthers) for (const id of ids) this.#unsent.stoppedIds.add(id)
  }

  /** Receives runs that were stopped, null when it may be any run, until the returned function is called. */
  onStoppedRun(receive: (executionId: string | null) => void): () => void {
    this.#listen()
    this.#onStoppedRun.add(receive)
    return () => void this.#onStoppedRun.delete(receive)
  }

  /** Is notified, from now on, when this flow has ended; until the watch is ended. */
  watchFlow(flowId: string): Watch<string> {
    this.#listen()
    const watch = new Watch<string>(
      (id) => id === flowId,
      () => this.#flowWatches.delete(watch),
    )
    this.#flowWatches.add(watch)
    return watch
  }

  /** Receives timers by their columns, from this process and others, until the returned function is called. */
  onDue(receive: (column: string, inMs: number) => void): () => void {
    this.#listen()
    this.#onDue.add(receive)
    return () => void this.#onDue.delete(receive)
  }

  /** Is notified, from now on, of the queues that `concerns` accepts; until the watch is ended. */
  watch(concerns: (queueId: number) => boolean): Watch<number> {
    this.#listen()
    const watch = new Watch(concerns, () => this.#watches.delete(watch))
    this.#watches.add(watch)
    return watch
  }

  /** Resolves when all published hints are sent. */
  close(): Promise<void> {
    return this.#sent
  }

  #startSending(): void {
    this.#isSending = true
    this.#sent = this.#send()
  }

  async #send(): Promise<void> {
    await setImmediate()
    while (!isEmpty(this.#unsent)) {
      const payload = payloadOf(this.#unsent)
      const { stoppedIds } = this.#unsent
      if (this.#isListening && stoppedIds.size <= mostStoppedNamed) {
        if (this.#echoes.size > mostEchoes) this.#echoes.clear()
        for (const id of stoppedIds) this.#echoes.add(id)
      }
      this.#unsent = nothingUnsent()
      // A hint that is not sent costs a poll's delay.
      await this.#sql.query(notify, { channel: this.#channel, payload }).catch(() => [])
    }
    this.#isSending = false
  }

  // Until the database's handle is closed. The adapter also calls once after each reconnect, because hints were lost meanwhile.
  #listen(): void {
    if (!this.#hasOthers || this.#isListening) return
    this.#isListening = true
    const receive = (payload: string | null): void => {
      if (payload === null) {
        this.#notifyFlow(null)
        this.#echoes.clear()
        this.#notifyStopped(null)
      }
      for (const part of (payload ?? '').split(',')) this.#receive(part)
    }
    this.#sql.listen(this.#channel, receive).catch(() => {
      this.#isListening = false
    })
  }

  #receive(part: string): void {
    const [word = '', rest] = part.split(':')
    if (rest === undefined) this.#notifyQueue(word === '' ? null : Number(word))
    else if (word === flowWord) this.#notifyFlow(rest === '' ? null : rest)
    else if (word === stoppedWord && !this.#echoes.delete(rest)) this.#notifyStopped(rest === '' ? null : rest)
    else if (isTimer(word)) this.#notifyDue(word, Number(rest))
  }

  #notifyFlow(flowId: string | null): void {
    for (const watch of this.#flowWatches) watch.notify(flowId)
  }

  #notifyStopped(executionId: string | null): void {
    for (const receive of this.#onStoppedRun) receive(executionId)
  }

  #notifyQueue(queueId: number | null): void {
    this.#onQueue(queueId)
    for (const watch of this.#watches) watch.notify(queueId)
  }

  #notifyDue(timer: HintedTimer, inMs: number): void {
    for (const receive of this.#onDue) receive(timers[timer].column, inMs)
  }
}

function nothingUnsent(): Unsent {
  return { queueIds: new Set(), dueMs: new Map(), flowIds: new Set(), stoppedIds: new Set() }
}

function isEmpty({ queueIds, dueMs, flowIds, stoppedIds }: Unsent): boolean {
  return queueIds.size + dueMs.size + flowIds.size + stoppedIds.size === 0
}

// The name of a channel has at most 63 bytes, and so has the name of a schema.
const longestSchemaBytes = 50

function channelOf(schema: string): string {
  const isShort = Buffer.byteLength(schema) <= longestSchemaBytes
  return `flowfabric ${isShort ? schema : createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
}

// Queues, flows, executions and timers, joined by commas; an empty id means all of its kind.
function payloadOf({ queueIds, dueMs, flowIds, stoppedIds }: Unsent): string {
  const queues = queueIds.size > mostNamed ? [''] : [...queueIds]
  const flows = flowIds.size > mostFlowsNamed ? [''] : [...flowIds]
  const executions = stoppedIds.size > mostStoppedNamed ? [''] : [...stoppedIds]
  return [
    ...queues,
    ...flows.map((id) => `${flowWord}:${id}`),
    ...executions.map((id) => `${stoppedWord}:${id}`),
    ...[...dueMs].map(([timer, inMs]) => `${timer}:${inMs}`),
  ].join()
}

function timersOf(dueInMs: Effects['dueInMs'] = {}): [HintedTimer, number][] {
  return Object.entries(dueInMs) as [HintedTimer, number][]
}

// Another version of the engine may send other words.
function isTimer(word: string): word is HintedTimer {
  return Object.hasOwn(timers, word)
}
