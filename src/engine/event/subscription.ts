// One subscriber: a position in the log and a filter. It pulls, page by page, when its caller requests the next event.
import type { Sql } from '../../sql/sql.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { IdParts } from '../../model/id.ts'
import { encodeEventCursor } from './cursor.ts'
import type { ReadRow, Tail } from './frontier.ts'
import {
  decodeEvent,
  decodeOnce,
  eventColumns,
  eventRow,
  type EventKind,
  type EventRow,
  type LogEvent,
} from './log-event.ts'
import type { EventReader } from './reader.ts'

/** Events in order: iterate it, and leave the loop or call `return` to end it. */
export interface Subscription extends AsyncIterableIterator<LogEvent | Truncated> {
  // Declared here and not by a second argument of the iterator's type, which TypeScript has since 5.6 only.
  next(): Promise<IteratorResult<LogEvent | Truncated, undefined>>
  /** Everything up to here is delivered, or did not match: continue from here after a break. */
  readonly cursor: string
  /** Also ends a waiting `next`. */
  return(): Promise<IteratorResult<LogEvent | Truncated, undefined>>
}

/** The cursor was older than the log: the events between it and `cursor` are gone. */
export interface Truncated {
  readonly kind: 'truncated'
  readonly after: string
  readonly cursor: string
}

export interface EventFilter {
  readonly namespace: string | null
  /** Empty: all. */
  readonly kinds: readonly EventKind[]
  readonly tags: Readonly<Record<string, string>>
  /** Of this flow and of its members. */
  readonly flow: IdParts | null
  readonly execution: IdParts | null
}

// Every id below the end is decided, so a plain range is complete. The range is bounded, because few of it may match.
const readRange = statement({
  name: 'event.read-range',
  params: {
    from: 'int8',
    to: 'int8',
    namespace: 'text?',
    kinds: 'text[]',
    tag_keys: 'text[]',
    tag_values: 'text[]',
    limit: 'int8',
    flow_id: 'uuid?',
    execution_id: 'uuid?',
    partition_key: 'int2?',
  },
  row: eventRow,
  text: `
select ${eventColumns}
from flowfabric.ff_event e
where e.event_id >= $1 and e.event_id < $2
  and ($3::text is null or e.namespace = $3)
  and (cardinality($4::text[]) = 0 or e.event_type::text = any ($4))
  and ($8::uuid is null or e.flow_id = $8 and e.partition_key = $10)
  and ($9::uuid is null or e.execution_id = $9 and e.partition_key = $10)
  and not exists (
    select
    from unnest($5::text[], $6::text[]) as w (tag_key, tag_value)
    where not exists (
      select
      from flowfabric.ff_exec_tag t
      where t.execution_id = any (array[e.execution_id]) and t.tag_key = w.tag_key and t.tag_value = w.tag_value))
order by e.event_id
limit $7`,
})

// Whole blocks are dropped, the oldest first; the very first block has no lower bound.
const readLogStart = statement({
  name: 'event.log-start',
  params: {},
  row: { first_id: 'int8?' },
  text: `
select min(coalesce(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''?(\\d+)')::int8, 1)) as first_id
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'flowfabric.ff_event'::regclass and not i.inhdetachpending`,
})

const rangeSize = 10_000
const pageSize = 512

export interface SubscriptionOptions {
  readonly sql: Sql
  readonly reader: EventReader
  readonly filter: EventFilter
  /** The first id to read. */
  readonly position: number
  /** Set when it began at the end of the log: events that were visible then are not delivered. */
  readonly tail: Tail | null
  readonly signal: AbortSignal | undefined
  readonly onEnd: () => void
}

export class LogSubscription implements Subscription {
  readonly #options: SubscriptionOptions
  readonly #end = new AbortController()
  readonly #stop = (): void => this.#close()
  #position: number
  #cursor: string
  #page: readonly (LogEvent | Truncated)[] = []
  #taken = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#position = options.position
    this.#cursor = encodeEventCursor(options.position - 1)
    options.signal?.addEventListener('abort', this.#stop)
    if (options.signal?.aborted === true) this.#close()
  }

  get cursor(): string {
    return this.#cursor
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Concurrent calls are served in order. */
  next(): Promise<IteratorResult<LogEvent | Truncated, undefined>> {
    const turn = this.#turn.then(() => this.#take())
    this.#turn = turn.catch(() => {})
    return turn
  }

  async return(): Promise<IteratorResult<LogEvent | Truncated, undefined>> {
    this.#close()
    return { done: true, value: undefined }
  }

  async #take(): Promise<IteratorResult<LogEvent | Truncated, undefined>> {
    try {
      while (!this.#end.signal.aborted) {
        const value = this.#page[this.#taken]
        if (value === undefined) await this.#fill()
        else {
          this.#taken += 1
          this.#cursor = value.cursor
          return { done: false, value }
        }
      }
      return { done: true, value: undefined }
    } catch (error) {
      const isOver = this.#end.signal.aborted
      this.#close()
      if (isOver) return { done: true, value: undefined }
      throw error
    }
  }

  #close(): void {
    if (this.#end.signal.aborted) return
    this.#end.abort()
    this.#page = []
    this.#options.signal?.removeEventListener('abort', this.#stop)
    this.#options.onEnd()
  }

  async #fill(): Promise<void> {
    const { reader, filter } = this.#options
    this.#page = []
    this.#taken = 0
    this.#cursor = encodeEventCursor(this.#position - 1)
    const end = reader.readableTo(this.#position)
    if (end === null) return reader.more(this.#end.signal)
    const recent = reader.recent(this.#position, Object.keys(filter.tags).length > 0)
    if (recent === null) return this.#fillFromTable(Math.min(end, this.#position + rangeSize))
    this.#show(
      recent.filter((row) => this.#matches(row)),
      decodeOnce,
    )
    this.#position = (recent.at(-1)?.event_id ?? end - 1) + 1
  }

  // The start of the log is read after the rows: if it is not past the position then, it was not when they were read.
  async #fillFromTable(to: number): Promise<void> {
    const { sql, reader, filter } = this.#options
    const from = this.#position
    const range = {
      from,
      to,
      namespace: filter.namespace,
      kinds: filter.kinds,
      tag_keys: Object.keys(filter.tags),
      tag_values: Object.values(filter.tags),
      limit: pageSize,
      flow_id: filter.flow?.uuid ?? null,
      execution_id: filter.execution?.uuid ?? null,
      partition_key: (filter.flow ?? filter.execution)?.partition ?? null,
    }
    const [rows, starts] = await reader.retrying(this.#end.signal, () =>
      sql.pipeline([call(readRange, range), call(readLogStart, {})]),
    )
    const start = starts[0]?.first_id ?? 1
    if (start > from) {
      this.#page = [{ kind: 'truncated', after: encodeEventCursor(from - 1), cursor: encodeEventCursor(start - 1) }]
      this.#position = start
      return
    }
    this.#show(rows, decodeEvent)
    this.#position = rows.length === pageSize ? rows.at(-1)!.event_id + 1 : to
  }

  #show(rows: readonly EventRow[], decode: (row: EventRow) => LogEvent): void {
    const { reader } = this.#options
    this.#page = rows.filter((row) => this.#isNew(row) && reader.knows(row.event_type)).map((row) => decode(row))
  }

  #matches(row: ReadRow): boolean {
    const { namespace, kinds, tags, flow, execution } = this.#options.filter
    if (namespace !== null && row.namespace !== namespace) return false
    if (flow !== null && (row.flow_id !== flow.uuid || row.partition_key !== flow.partition)) return false
    if (execution !== null && (row.execution_id !== execution.uuid || row.partition_key !== execution.partition)) {
      return false
    }
    if (kinds.length > 0 && !(kinds as readonly string[]).includes(row.event_type)) return false
    const found = (row.tags ?? {}) as Record<string, string>
    return Object.entries(tags).every(([key, value]) => Object.hasOwn(found, key) && found[key] === value)
  }

  #isNew({ event_id: id }: EventRow): boolean {
    const { tail } = this.#options
    if (tail === null || id > tail.lastId) return true
    return tail.missing.some((range) => id >= range.from && id <= range.to)
  }
}
