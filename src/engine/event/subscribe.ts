// Subscriptions to the log: events in order, without gaps or repeats, from now on or from a cursor. The first
// subscriber starts the process's reader, the last one stops it.
import { abortSignal, id, listOf, unchecked, word } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { namespace, tags } from '../../model/named-fields.ts'
import { eventKinds } from '../../model/event-kind.ts'
import { EngineError } from '../../model/errors.ts'
import { parseExecutionId, parseFlowId } from '../../model/id.ts'
import { checkAbortSignal } from '../../model/shape.ts'
import { silent, type Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { namespaceFor, type Caller } from '../kernel/caller.ts'
import { decodeEventCursor } from './cursor.ts'
import { EventReader } from './reader.ts'
import { LogSubscription, type EventFilter, type Subscription } from './subscription.ts'

export const subscribeFields = {
  /** Left out: all kinds. */
  kinds: listOf(word(eventKinds, 'EventKind'), {
    each: 'kind',
    min: 1,
    allowed: 'an array of one or more event kinds',
  }).optional(),
  /** Left out: all that the caller may see. */
  namespace: namespace.optional(),
  /** Only events of executions that have all of these. */
  tags: tags.optional(),
  /** Only events of this flow and of its members. */
  flowId: id('flow').optional(),
  /** Only events of this execution; not together with a flow. */
  executionId: id('execution').optional(),
  /** The cursor of the last event that was handled. Left out or empty: from now on. */
  after: unchecked<string>({ kind: 'named', name: 'Cursor' })
    .optional()
    .describe('The cursor of the last event that you handled.'),
  /** Ends the iteration. */
  signal: abortSignal(),
}

export interface SubscribeRequest extends RequestOf<typeof subscribeFields> {}

export interface SubscriptionsOptions {
  readonly logger?: Logger
  /** How long subscribers wait for one event before a warning names the transaction that blocks them. */
  readonly warnAfterMs?: number
}

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
  const { kinds, tags } = checkFields('subscribe', subscribeFields, request)
  const { namespace, flowId, executionId } = request
  if (flowId !== undefined && executionId !== undefined) {
    throw new EngineError('invalid_input', 'subscribe takes flowId or executionId, not both', {
      field: 'flowId',
    })
  }
  return {
    namespace: namespace === undefined ? caller.namespace : namespaceFor(caller, namespace),
    kinds: kinds ?? [],
    tags: tags ?? {},
    flow: flowId === undefined ? null : parseFlowId(flowId),
    execution: executionId === undefined ? null : parseExecutionId(executionId),
  }
}
