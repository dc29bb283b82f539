// Subscriptions to the log: events in order, without gaps or repeats, from now on or from a cursor. The first
// subscriber starts the process's reader, the last one stops it.
import { eventKinds } from '../../model/event-kind.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { parseExecutionId, parseFlowId } from '../../model/id.ts'
import { checkAbortSignal, refuseUnknownFields } from '../../model/shape.ts'
import { parseTags } from '../../model/tag.ts'
import { nearest, show } from '../../model/text.ts'
import { silent, type Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { namespaceFor, type Caller } from '../kernel/caller.ts'
import { decodeEventCursor } from './cursor.ts'
import { isKnownKind, type EventKind } from './log-event.ts'
import { EventReader } from './reader.ts'
import { LogSubscription, type EventFilter, type Subscription } from './subscription.ts'

export interface SubscribeRequest {
  /** Left out: all kinds. */
  readonly kinds?: readonly EventKind[]
  /** Left out: all that the caller may see. */
  readonly namespace?: string
  /** Only events of executions that have all of these. */
  readonly tags?: Readonly<Record<string, string>>
  /** Only events of this flow and of its members. */
  readonly flowId?: string
  /** Only events of this execution; not together with a flow. */
  readonly executionId?: string
  /** The cursor of the last event that was handled. Left out or empty: from now on. */
  readonly after?: string
  /** Ends the iteration. */
  readonly signal?: AbortSignal
}

export interface SubscriptionsOptions {
  readonly logger?: Logger
  /** How long subscribers wait for one event before a warning names the transaction that blocks them. */
  readonly warnAfterMs?: number
}

const fields = [
  'kinds',
  'namespace',
  'tags',
  'flowId',
  'executionId',
  'after',
  'signal',
] as const satisfies readonly (keyof SubscribeRequest)[]

const readLastId = statement({
  name: 'event.last-id',
  params: {},
  row: { last_id: 'int8' },
  text: `
select last_value - (not is_called)::int as last_id
from flowfabric.ff_event_id`,
})

export class Subscriptions {
  readonly #sql: Sql
  readonly #options: Required<SubscriptionsOptions>
  #opening: Promise<EventReader> | null = null
  #reader: EventReader | null = null
  #count = 0

  constructor(sql: Sql, { logger = silent, warnAfterMs = 60_000 }: SubscriptionsOptions = {}) {
    this.#sql = sql
    this.#options = { logger, warnAfterMs }
  }

  /** How long the reader has waited for an event that it cannot decide. */
  get stalledMs(): number {
    return this.#reader?.stalledMs ?? 0
  }

  /** After a commit that wrote events: polls now. Without it, the next poll finds them. */
  wake(): void {
    this.#reader?.wake()
  }

  /** Resolves when the start is fixed: events that are committed from then on are delivered. */
  async subscribe(caller: Caller, request: SubscribeRequest = {}): Promise<Subscription> {
    const filter = checkFilter(caller, request)
    const after = request.after === undefined || request.after === '' ? null : decodeEventCursor(request.after)
    const signal = checkAbortSignal(request.signal)
    this.#count += 1
    try {
      const reader = await this.#join()
      const tail = after === null ? await reader.tail() : null
      if (after !== null) await this.#refuseFuture(after)
      const position = tail === null ? after! + 1 : (tail.missing[0]?.from ?? tail.lastId + 1)
      return new LogSubscription({
        sql: this.#sql,
        reader,
        filter,
        position,
        tail,
        signal,
        onEnd: () => this.#leave(),
      })
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async #join(): Promise<EventReader> {
    if (this.#reader?.hasFailed === true) {
      this.#reader = null
      this.#opening = null
    }
    this.#opening ??= EventReader.open(this.#sql, this.#options)
    const reader = await this.#opening
    this.#reader = reader
    return reader
  }

  #leave(): void {
    this.#count -= 1
    if (this.#count > 0) return
    this.#reader?.close()
    this.#reader = null
    this.#opening = null
  }

  // The cursor comes from a database that has since lost its latest events: waiting for that id would skip all events
  // before it.
  async #refuseFuture(after: number): Promise<void> {
    const [row] = await this.#sql.query(readLastId, {})
    if (after <= row!.last_id) return
    const sentence = 'the cursor is ahead of the event log, which may have been restored; start without a cursor'
    throw new EngineError('invalid_cursor', sentence, { field: 'after' })
  }
}

function checkFilter(caller: Caller, request: SubscribeRequest): EventFilter {
  refuseUnknownFields('subscribe', request, fields)
  const { kinds, namespace, tags, flowId, executionId } = request
  if (flowId !== undefined && executionId !== undefined) {
    throw new EngineError('invalid_input', 'subscribe takes flowId or executionId, not both', {
      field: 'flowId',
    })
  }
  return {
    namespace: namespace === undefined ? caller.namespace : namespaceFor(caller, namespace),
    kinds: kinds === undefined ? [] : checkKinds(kinds),
    tags: parseTags(tags),
    flow: flowId === undefined ? null : parseFlowId(flowId),
    execution: executionId === undefined ? null : parseExecutionId(executionId),
  }
}

function checkKinds(kinds: unknown): readonly EventKind[] {
  if (!Array.isArray(kinds) || kinds.length === 0) {
    throw refusal('invalid_input', 'kinds', show(kinds), 'an array of one or more event kinds')
  }
  for (const kind of kinds) {
    if (typeof kind === 'string' && isKnownKind(kind)) continue
    const meant = typeof kind === 'string' ? nearest(kind, eventKinds) : undefined
    const allowed =
      meant === undefined ? `one of ${eventKinds.join(', ')}` : `a known event kind; did you mean ${meant}?`
    throw refusal('invalid_input', 'kind', show(kind), allowed)
  }
  return kinds as EventKind[]
}
