// Pages of flows, newest first by creation and id; within a partition or by prefix of the id in the order of ids. Each reads the one index that is
// in its order. A state is checked flow by flow: a call looks at so many, and its cursor goes on behind the last of them.
import { createHash } from 'node:crypto'
import { decodeCursor, encodeCursor, type CursorField } from '../../model/cursor.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { formatFlowId, parseFlowId, parseIdPrefix, parsePartition } from '../../model/id.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { nearest, show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { firstUuid, lastTime, lastUuid } from '../execution/list/source.ts'
import { pageLimit } from '../kernel/page.ts'
import { decodeFlow, flowColumns, flowJoins, flowRow, flowStates } from './snapshot.ts'
import type { Flow, FlowRow, FlowState } from './snapshot.ts'

export interface ListFlowsRequest {
  readonly namespace?: string
  readonly state?: FlowState
  /** `{fp:7}` or 7. */
  readonly partition?: string | number
  /** The first 8 or more characters of the uuid, as in `0190b6d2-4f`. Not together with `partition`. */
  readonly idPrefix?: string
  /** Nought is an empty page, more than 1,000 is 1,000; 50 when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before, with the same filter. */
  readonly cursor?: string
}

export interface FlowPage {
  /** By state they may be few, or none, though there are more. */
  readonly flows: readonly Flow[]
  /** Null: there are no more. */
  readonly nextCursor: string | null
}

interface Filter {
  readonly namespace: string | null
  readonly state: FlowState | null
  readonly partition: number | null
  readonly idPrefix: { readonly first: string; readonly last: string } | null
}

type Key = readonly (string | number)[]

interface Source {
  readonly name: string
  readonly shape: readonly CursorField[]
  /** A key before all others. */
  readonly start: Key
  keyOf(row: FlowRow): Key
  read(sql: Sql, filter: Filter, after: Key, limit: number): Promise<FlowRow[]>
}

const listByCreation = statement({
  name: 'flow.list.by-creation',
  params: { created_at_ms: 'int8', flow_id: 'uuid', limit: 'int8' },
  row: flowRow,
  text: `
select ${flowColumns}
from flowfabric.ff_flow_core f
${flowJoins}
where (f.created_at_ms, f.flow_id) < ($1, $2)
order by f.created_at_ms desc, f.flow_id desc
limit $3`,
})

const byCreation: Source = {
  name: 'flows by creation',
  shape: ['int', 'uuid'],
  start: [lastTime, lastUuid],
  keyOf: (row) => [row.created_at_ms, row.flow_id],
  read: (sql, _, [created, id], limit) =>
    sql.query(listByCreation, { created_at_ms: created as number, flow_id: id as string, limit }),
}

const listByNamespace = statement({
  name: 'flow.list.by-namespace',
  params: { namespace: 'text', created_at_ms: 'int8', flow_id: 'uuid', limit: 'int8' },
  row: flowRow,
  text: `
select ${flowColumns}
from flowfabric.ff_flow_core f
${flowJoins}
where f.namespace = $1 and (f.created_at_ms, f.flow_id) < ($2, $3)
order by f.created_at_ms desc, f.flow_id desc
limit $4`,
})

const byNamespace: Source = {
  ...byCreation,
  name: 'flows by namespace',
  read: (sql, { namespace }, [created, id], limit) =>
    sql.query(listByNamespace, {
      namespace: namespace!,
      created_at_ms: created as number,
      flow_id: id as string,
      limit,
    }),
}

const listByPartition = statement({
  name: 'flow.list.by-partition',
  params: { namespace: 'text?', partition_key: 'int2', flow_id: 'uuid', limit: 'int8' },
  row: flowRow,
  text: `
select ${flowColumns}
from flowfabric.ff_flow_core f
${flowJoins}
where f.partition_key = $2 and f.flow_id > $3
  and ($1::text is null or f.namespace = $1)
order by f.flow_id
limit $4`,
})

const byPartition: Source = {
  name: 'flows by partition',
  shape: ['uuid'],
  start: [firstUuid],
  keyOf: (row) => [row.flow_id],
  read: (sql, { namespace, partition }, [id], limit) =>
    sql.query(listByPartition, { namespace, partition_key: partition!, flow_id: id as string, limit }),
}

const listByIdPrefix = statement({
  name: 'flow.list.by-id-prefix',
  params: { namespace: 'text?', first_id: 'uuid', last_id: 'uuid', flow_id: 'uuid', limit: 'int8' },
  row: flowRow,
  text: `
select ${flowColumns}
from flowfabric.ff_flow_core f
${flowJoins}
where f.flow_id >= $2 and f.flow_id <= $3 and f.flow_id > $4
  and ($1::text is null or f.namespace = $1)
order by f.flow_id
limit $5`,
})

const byIdPrefix: Source = {
  ...byPartition,
  name: 'flows by id prefix',
  read: (sql, { namespace, idPrefix }, [id], limit) =>
    sql.query(listByIdPrefix, {
      namespace,
      first_id: idPrefix!.first,
      last_id: idPrefix!.last,
      flow_id: id as string,
      limit,
    }),
}

export async function listFlows(sql: Sql, caller: Caller, request: ListFlowsRequest): Promise<FlowPage> {
  refuseUnknownFields('flows.list', request, ['namespace', 'state', 'partition', 'idPrefix', 'limit', 'cursor'])
  const filter = checkFilter(caller, request)
  const source = sourceOf(filter)
  const limit = pageLimit(request.limit)
  const after = request.cursor === undefined ? source.start : readCursor(source, filter, request.cursor)
  // Another namespace than the caller's is empty to him, like one that does not exist.
  const isForeign = request.namespace !== undefined && filter.namespace !== request.namespace
  if (limit === 0 || isForeign) return { flows: [], nextCursor: null }
  const { rows, last } = await look(sql, source, filter, after, limit)
  return { flows: rows.map(decodeFlow), nextCursor: last === null ? null : writeCursor(source, filter, last) }
}

// A state is looked for in so many flows at a time, and in one call no further.
const lookedAtOnce = 200
const mostLookedAt = 1000

/** Up to `limit` flows, and the last of those looked at, when there may be more behind it. */
async function look(sql: Sql, source: Source, filter: Filter, start: Key, limit: number) {
  const { state } = filter
  const rows: FlowRow[] = []
  let last: FlowRow | null = null
  for (let looked = 0, after = start; looked < mostLookedAt;) {
    const size = state === null ? limit + 1 : Math.max(lookedAtOnce, limit + 1)
    const read = await source.read(sql, filter, after, size)
    for (const row of read) {
      if (state !== null && row.state !== state) {
        last = row
        continue
      }
      if (rows.length === limit) return { rows, last: rows.at(-1)! }
      rows.push(row)
      last = row
    }
    if (read.length < size) return { rows, last: null }
    looked += read.length
    after = source.keyOf(last!)
  }
  return { rows, last }
}

function checkFilter(caller: Caller, { namespace, state, partition, idPrefix }: ListFlowsRequest): Filter {
  if (partition !== undefined && idPrefix !== undefined) {
    const sentence = 'a list takes only one of partition, idPrefix; both are given'
    throw new EngineError('invalid_input', sentence, { fields: ['partition', 'idPrefix'] })
  }
  const wanted = namespace === undefined ? null : checkNamespace(namespace)
  return {
    namespace: caller.namespace ?? wanted,
    state: state === undefined ? null : checkState(state),
    partition: partition === undefined ? null : parsePartition(partition),
    idPrefix: idPrefix === undefined ? null : parseIdPrefix(idPrefix),
  }
}

function checkState(state: unknown): FlowState {
  if ((flowStates as readonly unknown[]).includes(state)) return state as FlowState
  const near = typeof state === 'string' ? nearest(state, flowStates) : undefined
  const allowed = near === undefined ? `one of ${flowStates.join(', ')}` : `a known state; did you mean ${near}?`
  throw refusal('invalid_input', 'state', show(state), allowed)
}

function sourceOf({ partition, idPrefix, namespace }: Filter): Source {
  if (partition !== null) return byPartition
  if (idPrefix !== null) return byIdPrefix
  return namespace === null ? byCreation : byNamespace
}

// Within a partition the cursor is the last id itself; elsewhere it is opaque, and good for this very filter.
function readCursor(source: Source, filter: Filter, cursor: string): Key {
  if (source !== byPartition) return decodeCursor(listName(source, filter), cursor, source.shape)
  const { partition, uuid } = parseCursorId(cursor)
  if (partition === filter.partition) return [uuid]
  const sentence = `the cursor is of partition ${partition}, the list of ${filter.partition}; start without a cursor`
  throw new EngineError('invalid_cursor', sentence)
}

function parseCursorId(cursor: string): { partition: number; uuid: string } {
  try {
    return parseFlowId(cursor)
  } catch (cause) {
    const sentence = 'the cursor of a list by partition is the last flow id of the page before'
    throw new EngineError('invalid_cursor', sentence, {}, { cause })
  }
}

function writeCursor(source: Source, filter: Filter, last: FlowRow): string {
  if (source === byPartition) return formatFlowId(filter.partition!, last.flow_id)
  return encodeCursor(listName(source, filter), source.keyOf(last))
}

function listName(source: Source, filter: Filter): string {
  const digest = createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
  return `${source.name} ${digest}`
}
