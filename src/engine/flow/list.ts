// Pages of flows, newest first by creation and id; within a partition or by prefix of the id, in the order of ids. A state is
// checked flow by flow: a call reads a limited number of flows, and its cursor continues behind the last one that it read.
import { EngineError } from '../../model/errors.ts'
import { word } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { idPrefix, namespace, partition } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { filteredOrder, partitionOrder, sourceOf, type ListSource } from '../kernel/list-source.ts'
import { ascending, checkPage, descending, pageFields } from '../kernel/page.ts'
import { decodeFlow, flowColumns, flowJoins, flowRow, flowStates } from './snapshot.ts'
import type { Flow, FlowRow, FlowState } from './snapshot.ts'

export const listFlowsFields = {
  namespace: namespace.optional(),
  state: word(flowStates, 'FlowState').optional(),
  /** `{fp:7}` or 7. */
  partition: partition.optional(),
  /** The first 8 or more characters of the uuid, as in `0190b6d2-4f`. Not together with `partition`. */
  idPrefix: idPrefix.optional(),
  ...pageFields,
}

export interface ListFlowsRequest extends RequestOf<typeof listFlowsFields> {}

export interface FlowPage {
  /** A page by state may have few flows or none, although more follow. */
  readonly flows: readonly Flow[]
  /** Null: no more follow. */
  readonly nextCursor: string | null
}

interface FlowFilter {
  readonly namespace: string | null
  readonly state: FlowState | null
  readonly partition: number | null
  readonly idPrefix: { readonly first: string; readonly last: string } | null
}

type Source = ListSource<FlowFilter, FlowRow>
type Key = Parameters<Source['read']>[2]
const source = sourceOf<FlowFilter, FlowRow>()

function newestFirst(name: string) {
  return filteredOrder(name, { created_at_ms: descending.int, flow_id: descending.uuid })
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

const byCreation = source({
  order: newestFirst('flows by creation'),
  read: (sql, _filter, after, limit) => sql.query(listByCreation, { ...after, limit }),
})

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

const byNamespace = source({
  order: newestFirst('flows by namespace'),
  read: (sql, filter, after, limit) => sql.query(listByNamespace, { namespace: filter.namespace!, ...after, limit }),
})

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

const byPartition = source({
  order: ({ partition }) => partitionOrder('flow', partition!),
  read: (sql, { namespace, partition }, after, limit) =>
    sql.query(listByPartition, { namespace, partition_key: partition!, ...after, limit }),
})

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

const inOrderOfIds = filteredOrder('flows by id prefix', { flow_id: ascending.uuid })

const byIdPrefix = source({
  order: inOrderOfIds,
  read: (sql, { namespace, idPrefix }, after, limit) =>
    sql.query(listByIdPrefix, { namespace, first_id: idPrefix!.first, last_id: idPrefix!.last, ...after, limit }),
})

export async function listFlows(sql: Sql, caller: Caller, request: ListFlowsRequest): Promise<FlowPage> {
  const { state, partition, idPrefix } = checkFields('flows.list', listFlowsFields, request)
  if (partition !== null && idPrefix !== null) {
    const sentence = 'a list takes only one of partition, idPrefix; both are given'
    throw new EngineError('invalid_input', sentence, { fields: ['partition', 'idPrefix'] })
  }
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const filter = { namespace, state, partition, idPrefix }
  const source = sourceFor(filter)
  const order = source.order(filter)
  const { limit, after } = checkPage(request, order)
  if (limit === 0 || isForeign) return { flows: [], nextCursor: null }
  const { rows, last } = await search(sql, source, filter, after, limit)
  return { flows: rows.map(decodeFlow), nextCursor: last === null ? null : order.encode(last) }
}

// A search for a state reads this many flows at a time, and at most so many in one call.
const readAtOnce = 200
const mostRead = 1000

/** Up to `limit` flows, and the last one that was read, when more may follow it. */
async function search(sql: Sql, source: Source, filter: FlowFilter, start: Key, limit: number) {
  const { state } = filter
  const order = source.order(filter)
  const rows: FlowRow[] = []
  let last: FlowRow | null = null
  for (let count = 0, after = start; count < mostRead;) {
    const size = state === null ? limit + 1 : Math.max(readAtOnce, limit + 1)
    const read = await source.read(sql, filter, after, size)
    for (const row of read) {
      const isWanted = state === null || row.state === state
      if (isWanted && rows.length === limit) return { rows, last: rows.at(-1)! }
      if (isWanted) rows.push(row)
      last = row
    }
    if (read.length < size) return { rows, last: null }
    count += read.length
    after = order.decode(order.encode(last!))
  }
  return { rows, last }
}

function sourceFor({ partition, idPrefix, namespace }: FlowFilter): Source {
  if (partition !== null) return byPartition
  if (idPrefix !== null) return byIdPrefix
  return namespace === null ? byCreation : byNamespace
}
