// Hints: somewhere, something became ready. A hint saves the wait for the next poll and carries no promise; whoever waits
// polls as well, and whoever is woken may find nothing. A second kind of hint says that a timer was set that goes off soon:
// whoever looks after those that are due need not wait for its next look. A third names flows that have ended, a fourth runs that
// were called off: their holder need not wait for its next look at its leases.
//
// Hints of one process reach its own waiters directly. For the others they are sent by NOTIFY, in a transaction of its own
// after the commit that they tell of (inside it, NOTIFY takes a lock that halves the throughput, measured), one at a time:
// what rings meanwhile is told by the next. It goes a turn of the event loop later, behind what the caller asks for next, who
// would else wait for it (measured: a tenth of suspend, signal and claim).
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { Watch } from './watch.ts'

// A hint that a crash loses was only a hint: its commit waits for no disk.
const notify = statement({
  name: 'hint.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `
select set_config('synchronous_commit', 'off', true) is not null and pg_notify($1, $2) is not null as sent`,
})

// More queues than this at once, and the hint names none: everyone looks everywhere.
const mostNamed = 500

// The timers that hints tell of, and how far ahead: what is due later is met in time without, because whoever looks after
// them looks more often than that.
const timers = {
  delay: { column: 'ff_exec_core.delay_until_ms', longestMs: 1000 },
  timeout: { column: 'ff_suspension_current.timeout_at_ms', longestMs: 2000 },
  wake: { column: 'ff_suspension_current.wake_at_ms', longestMs: 1000 },
} as const

export type HintedTimer = keyof typeof timers

const flowWord = 'flow'
const calledOffWord = 'off'
// Ids are longer than queues, and a payload has at most 8,000 bytes.
const mostFlowsNamed = 50
const mostCalledOffNamed = 50
// Of hints that do not come back, be it that a pooler swallows them.
const mostEchoes = 1000

// Between two writes that carry their own hint; the other hints are sent one at a time. Sets that follow one another under load
// are closer together; somebody who answers as fast as he is asked is not (measured: a twentieth of suspend, signal and claim).
const quietMs = 2

export interface CarriedHint {
  readonly channel: string
  readonly payload: string
}

/** What an operation tells of what it has put where. */
export type Hinting = Pick<Hints, 'carriedBy' | 'carrier' | 'ring' | 'due' | 'calledOff'>

export class Hints {
  readonly #sql: Sql
  readonly #channel: string
  readonly #watches = new Set<Watch<number>>()
  readonly #flowWatches = new Set<Watch<string>>()
  readonly #onQueue: (queueId: number | null) => void
  readonly #onDue = new Set<(column: string, inMs: number) => void>()
  #ringing = new Set<number>()
  readonly #onCalledOff = new Set<(executionId: string | null) => void>()
  #endedFlows = new Set<string>()
  #calledOff = new Set<string>()
  /** Those of this process, which it hears of again: they were told here already. */
  readonly #echoes = new Set<string>()
  #dueMs = new Map<HintedTimer, number>()
  /** Until then nothing later needs a hint: whoever comes then finds it. */
  readonly #toldUntil = new Map<HintedTimer, number>()
  #sending = false
  #told: Promise<void> = Promise.resolve()
  #quietUntil = 0
  #isListening = false

  /** `onQueue` hears the queues that a hint names, and null when anything may have changed. */
  constructor(sql: Sql, onQueue: (queueId: number | null) => void) {
    this.#sql = sql
    this.#channel = channelOf(sql.schema)
    this.#onQueue = onQueue
  }

  /**
   * The hint that a write about to be sent may carry in its own transaction: one round trip less. Only where nothing was
   * told for a while, because under load it would hold up the commits of others.
   */
  carriedBy(queueIds: readonly number[]): CarriedHint | null {
    const channel = this.carrier()
    const named = new Set(queueIds)
    return channel === null || named.size > mostNamed ? null : { channel, payload: [...named].join() }
  }

  /** The same for a write that names the queues itself, joined by commas: the channel, or null where it may carry none. */
  carrier(): string | null {
    if (this.#sql.kind === 'embedded' || this.#sending || performance.now() < this.#quietUntil) return null
    return this.#channel
  }

  /** The hint that goes with a transaction of the caller's, and comes with its commit; null where there is none to give. */
  hintOf(
    queueIds: ReadonlySet<number>,
    calledOff: ReadonlySet<string>,
    dueMs: ReadonlyMap<HintedTimer, number>,
  ): CarriedHint | null {
    const soon = new Map([...dueMs].filter(([timer, inMs]) => inMs <= timers[timer].longestMs))
    if (queueIds.size === 0 && calledOff.size === 0 && soon.size === 0) return null
    return { channel: this.#channel, payload: payloadOf(queueIds, new Set(), calledOff, soon) }
  }

  /** Something was put into these queues, and is committed. `isTold`: it carried its hint. */
  ring(queueIds: Iterable<number>, isTold = false): void {
    this.#quietUntil = performance.now() + quietMs
    for (const id of queueIds) {
      if (!isTold) this.#ringing.add(id)
      this.#tellQueue(id)
    }
    if (this.#ringing.size === 0) return
    if (this.#sql.kind === 'embedded') this.#ringing.clear()
    else if (!this.#sending) this.#startSending()
  }

  /** A timer was set that goes off in so long, and is committed. */
  due(timer: HintedTimer, inMs: number): void {
    const now = performance.now()
    const toldUntil = this.#toldUntil.get(timer) ?? 0
    if (inMs > timers[timer].longestMs || (toldUntil > now && toldUntil <= now + inMs)) return
    this.#toldUntil.set(timer, now + inMs)
    this.#tellDue(timer, inMs)
    if (this.#sql.kind === 'embedded') return
    this.#dueMs.set(timer, inMs)
    if (!this.#sending) this.#startSending()
  }

  /** These flows have ended, and it is committed. */
  flowsEnded(flowIds: Iterable<string>): void {
    for (const id of flowIds) {
      this.#tellFlow(id)
      if (this.#sql.kind !== 'embedded') this.#endedFlows.add(id)
    }
    if (this.#endedFlows.size > 0 && !this.#sending) this.#startSending()
  }

  /** The runs of these, by uuid, were ended or asked to stop by somebody else than their holder, and it is committed. */
  calledOff(executionIds: Iterable<string>): void {
    const ids = [...executionIds]
    if (ids.length > mostCalledOffNamed) this.#tellCalledOff(null)
    else for (const id of ids) this.#tellCalledOff(id)
    if (this.#sql.kind !== 'embedded') for (const id of ids) this.#calledOff.add(id)
    if (this.#calledOff.size > 0 && !this.#sending) this.#startSending()
  }

  /** Hears of runs that were called off, null when it may be any, until the answer is called. */
  onCalledOff(hear: (executionId: string | null) => void): () => void {
    this.#listen()
    this.#onCalledOff.add(hear)
    return () => void this.#onCalledOff.delete(hear)
  }

  /** Hears, from now on, when this flow has ended; until it is ended itself. */
  watchFlow(flowId: string): Watch<string> {
    this.#listen()
    const watch = new Watch<string>(
      (id) => id === flowId,
      () => this.#flowWatches.delete(watch),
    )
    this.#flowWatches.add(watch)
    return watch
  }

  /** Hears of timers by their columns, from this process and others, until the answer is called. */
  onDue(hear: (column: string, inMs: number) => void): () => void {
    this.#listen()
    this.#onDue.add(hear)
    return () => void this.#onDue.delete(hear)
  }

  /** Hears, from now on, of the queues that concern it; until it is ended. */
  watch(concerns: (queueId: number) => boolean): Watch<number> {
    this.#listen()
    const watch = new Watch(concerns, () => this.#watches.delete(watch))
    this.#watches.add(watch)
    return watch
  }

  /** Resolves when all is told that was rung before. */
  close(): Promise<void> {
    return this.#told
  }

  #startSending(): void {
    this.#sending = true
    this.#told = this.#send()
  }

  async #send(): Promise<void> {
    await setImmediate()
    while (this.#ringing.size + this.#dueMs.size + this.#endedFlows.size + this.#calledOff.size > 0) {
      const payload = payloadOf(this.#ringing, this.#endedFlows, this.#calledOff, this.#dueMs)
      this.#ringing = new Set()
      this.#endedFlows = new Set()
      if (this.#isListening && this.#calledOff.size <= mostCalledOffNamed) {
        if (this.#echoes.size > mostEchoes) this.#echoes.clear()
        for (const id of this.#calledOff) this.#echoes.add(id)
      }
      this.#calledOff = new Set()
      this.#dueMs = new Map()
      // A hint that is not sent costs a poll's delay.
      await this.#sql.query(notify, { channel: this.#channel, payload }).catch(() => [])
    }
    this.#sending = false
  }

  // Until the database's handle is closed; it also calls once after each reconnect, because hints were lost meanwhile.
  #listen(): void {
    if (this.#sql.kind === 'embedded' || this.#isListening) return
    this.#isListening = true
    const hear = (payload: string | null): void => {
      if (payload === null) {
        this.#tellFlow(null)
        this.#echoes.clear()
        this.#tellCalledOff(null)
      }
      for (const part of (payload ?? '').split(',')) this.#hear(part)
    }
    this.#sql.listen(this.#channel, hear).catch(() => {
      this.#isListening = false
    })
  }

  #hear(part: string): void {
    const [word = '', rest] = part.split(':')
    if (rest === undefined) this.#tellQueue(word === '' ? null : Number(word))
    else if (word === flowWord) this.#tellFlow(rest === '' ? null : rest)
    else if (word === calledOffWord && !this.#echoes.delete(rest)) this.#tellCalledOff(rest === '' ? null : rest)
    else if (isTimer(word)) this.#tellDue(word, Number(rest))
  }

  #tellFlow(flowId: string | null): void {
    for (const watch of this.#flowWatches) watch.hear(flowId)
  }

  #tellCalledOff(executionId: string | null): void {
    for (const hear of this.#onCalledOff) hear(executionId)
  }

  #tellQueue(queueId: number | null): void {
    this.#onQueue(queueId)
    for (const watch of this.#watches) watch.hear(queueId)
  }

  #tellDue(timer: HintedTimer, inMs: number): void {
    for (const hear of this.#onDue) hear(timers[timer].column, inMs)
  }
}

// The name of a channel has at most 63 bytes, and so has a schema's.
const longestSchemaBytes = 50

function channelOf(schema: string): string {
  const isShort = Buffer.byteLength(schema) <= longestSchemaBytes
  return `flowfabric ${isShort ? schema : createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
}

// Queues, flows, executions and timers, joined by commas; what has no name stands for all of its kind.
function payloadOf(
  queueIds: ReadonlySet<number>,
  endedFlows: ReadonlySet<string>,
  calledOff: ReadonlySet<string>,
  dueMs: ReadonlyMap<HintedTimer, number>,
): string {
  const queues = queueIds.size > mostNamed ? [''] : [...queueIds]
  const flows = endedFlows.size > mostFlowsNamed ? [''] : [...endedFlows]
  const executions = calledOff.size > mostCalledOffNamed ? [''] : [...calledOff]
  return [
    ...queues,
    ...flows.map((id) => `${flowWord}:${id}`),
    ...executions.map((id) => `${calledOffWord}:${id}`),
    ...[...dueMs].map(([timer, inMs]) => `${timer}:${inMs}`),
  ].join()
}

// Another version of the engine may tell of others.
function isTimer(word: string): word is HintedTimer {
  return Object.hasOwn(timers, word)
}
