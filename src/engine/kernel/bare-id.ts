// Operations that name a stored row accept its bare uuid. Before the operation runs, one query per noun reads the partitions and
// the request gets full ids; a row never changes its partition, so the answer cannot be outdated. A request with full ids, as
// workers send, costs one check per id. The query has the caller's namespace as a predicate: a foreign uuid stays unknown, is
// completed with a partition of its own, and the operation finds nothing.
import { EngineError } from '../../model/errors.ts'
import { isBareUuid, partitionOfUuid, type Noun } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from './caller.ts'

/** Where a request has ids: an id itself, the fields of an object, the items of an array, or the tree of a condition. */
export type IdPlaces = Noun | { readonly [field: string]: IdPlaces } | ListPlaces | typeof conditionTree
/** A longer list than `limit` (500 unless given) is not read: the operation refuses it as a whole. */
type ListPlaces = readonly [item: IdPlaces, limit?: number]

export const conditionTree = Symbol('condition')

const params = { ids: 'uuid[]', namespace: 'text?' } as const
const row = { id: 'uuid', partition_key: 'int2' } as const

const statements = {
  execution: statement({
    name: 'execution.partitions',
    params,
    row,
    text: `
select e.execution_id as id, e.partition_key
from unnest($1::uuid[]) as i (id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.id])
where $2::text is null or e.namespace = $2`,
  }),
  flow: statement({
    name: 'flow.partitions',
    params,
    row,
    text: `
select f.flow_id as id, f.partition_key
from unnest($1::uuid[]) as i (id)
join flowfabric.ff_flow_core f on f.flow_id = any (array[i.id])
where $2::text is null or f.namespace = $2`,
  }),
  waitpoint: statement({
    name: 'waitpoint.partitions',
    params,
    row,
    text: `
select w.waitpoint_id as id, w.partition_key
from unnest($1::uuid[]) as i (id)
join flowfabric.ff_waitpoint_pending w on w.waitpoint_id = any (array[i.id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[w.execution_id])
where $2::text is null or e.namespace = $2`,
  }),
}

type Verb = (caller: Caller, ...given: never[]) => Promise<unknown>

/** The same verbs, which also accept bare uuids at these places of their arguments. */
export function acceptBareIds<Verbs extends object>(
  sql: Sql,
  verbs: Verbs,
  places: { readonly [Name in keyof Verbs]?: readonly IdPlaces[] } = {},
): Verbs {
  const accepting = Object.entries(verbs).map(([name, verb]) => {
    const own = places[name as keyof Verbs]
    return [name, own === undefined ? verb : acceptingBareIds(sql, own, verb as Verb)]
  })
  return Object.fromEntries(accepting) as Verbs
}

export function acceptingBareIds<V extends Verb>(sql: Sql, places: readonly IdPlaces[], verb: V): V {
  const accepting: Verb = (caller, ...given) => {
    if (!places.some((place, index) => hasBareId(place, given[index], 0))) return verb(caller, ...given)
    return withFullIds(sql, caller, places, given, (full) => verb(caller, ...full))
  }
  return accepting as V
}

async function withFullIds(
  sql: Sql,
  caller: Caller,
  places: readonly IdPlaces[],
  given: readonly unknown[],
  perform: (full: never[]) => Promise<unknown>,
): Promise<unknown> {
  const bare: BareIds = { execution: new Set(), flow: new Set(), waitpoint: new Set() }
  const noted = (noun: Noun, uuid: string): string => (bare[noun].add(uuid), uuid)
  for (const [index, place] of places.entries()) replaceIds(place, given[index], noted, 0)
  const full = await readFullIds(sql, caller, bare, partitionOfFlow(given[0]))
  const withFull = given.map((value, index) => {
    const place = places[index]
    return place === undefined ? value : replaceIds(place, value, (noun, uuid) => full[noun].get(uuid)!, 0)
  })
  const givenAs = new Map(Object.values(full).flatMap((ids) => [...ids].map(([uuid, id]) => [id, uuid] as const)))
  try {
    return refusalsAsGiven(givenAs, await perform(withFull as never[]))
  } catch (error) {
    throw asGiven(givenAs, error)
  }
}

type BareIds = Readonly<Record<Noun, Set<string>>>
type FullIds = Readonly<Record<Noun, ReadonlyMap<string, string>>>
type Fields = Readonly<Record<string, unknown>>

// An unknown uuid gets the partition of the other ids in the request: the operation then reports that it does not exist, and
// not that its partition differs.
async function readFullIds(
  sql: Sql,
  { namespace }: Caller,
  bare: BareIds,
  ofFlow: number | undefined,
): Promise<FullIds> {
  const nouns = (['flow', 'execution', 'waitpoint'] as const).filter((noun) => bare[noun].size > 0)
  const found = await sql.pipeline(nouns.map((noun) => call(statements[noun], { ids: [...bare[noun]], namespace })))
  const full: Record<Noun, ReadonlyMap<string, string>> = {
    execution: new Map(),
    flow: new Map(),
    waitpoint: new Map(),
  }
  const known = found.flat()[0]?.partition_key
  const unknown = ofFlow ?? known ?? partitionOfUuid([...bare[nouns[0]!]][0]!)
  for (const [index, noun] of nouns.entries()) {
    const partitions = new Map(found[index]!.map(({ id, partition_key }) => [id, partition_key]))
    full[noun] = new Map([...bare[noun]].map((uuid) => [uuid, `{fp:${partitions.get(uuid) ?? unknown}}:${uuid}`]))
  }
  return full
}

function partitionOfFlow(request: unknown): number | undefined {
  const flowId = typeof request === 'object' && request !== null ? (request as Fields)['flowId'] : request
  const digits = typeof flowId === 'string' ? /^\{fp:(\d{1,3})\}:/.exec(flowId)?.[1] : undefined
  return digits === undefined ? undefined : Number(digits) % limits.partitionCount
}

// Deeper conditions are refused by the operation itself.
const deepestCondition = 100

function hasBareId(place: IdPlaces, value: unknown, depth: number): boolean {
  if (typeof place === 'string') return isBareUuid(value)
  if (typeof value !== 'object' || value === null || depth > deepestCondition) return false
  if (place === conditionTree) {
    const { executionId, members } = value as Fields
    return isBareUuid(executionId) || (members !== undefined && hasBareId(conditions, members, depth + 1))
  }
  if (isList(place)) {
    const [item, limit = limits.setItems] = place
    return Array.isArray(value) && value.length <= limit && value.some((each) => hasBareId(item, each, depth))
  }
  for (const field in place) if (hasBareId(place[field]!, (value as Fields)[field], depth)) return true
  return false
}

/** A copy of the value with its bare uuids replaced. */
function replaceIds(
  place: IdPlaces,
  value: unknown,
  replace: (noun: Noun, uuid: string) => string,
  depth: number,
): unknown {
  if (typeof place === 'string') return isBareUuid(value) ? replace(place, value.toLowerCase()) : value
  if (!hasBareId(place, value, depth)) return value
  if (isList(place)) {
    return (value as readonly unknown[]).map((item) => replaceIds(place[0], item, replace, depth))
  }
  const fields = place === conditionTree ? conditionFields : place
  const copy: Record<string, unknown> = { ...(value as Fields) }
  const deeper = place === conditionTree ? depth + 1 : depth
  for (const field in fields) {
    if (copy[field] !== undefined) copy[field] = replaceIds(fields[field]!, copy[field], replace, deeper)
  }
  return copy
}

const conditions: ListPlaces = [conditionTree]
const conditionFields: Readonly<Record<string, IdPlaces>> = { executionId: 'execution', members: conditions }

function isList(place: Exclude<IdPlaces, Noun>): place is ListPlaces {
  return Array.isArray(place)
}

/** The error names each id as the caller gave it: a partition that was not found must not be shown as if it were known. */
function asGiven(given: ReadonlyMap<string, string>, error: unknown): unknown {
  if (!EngineError.is(error)) return error
  let { message } = error
  for (const [id, uuid] of given) message = message.replaceAll(id, uuid)
  const details = Object.entries(error.details).map(([name, value]) => [name, given.get(value as string) ?? value])
  const named = new EngineError(error.code, message, Object.fromEntries(details), { cause: error.cause })
  if (error.stack !== undefined) named.stack = error.stack
  return named
}

/** The same for the items of a set, and for leases. */
function refusalsAsGiven(given: ReadonlyMap<string, string>, answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map((item: unknown) => refusalsAsGiven(given, item))
  if (typeof answer !== 'object' || answer === null) return answer
  const { error, leases, executionId } = answer as Fields
  if (Array.isArray(leases)) return { ...answer, leases: refusalsAsGiven(given, leases) }
  if (!EngineError.is(error)) return answer
  const named = executionId === undefined ? {} : { executionId: given.get(executionId as string) ?? executionId }
  return { ...answer, ...named, error: asGiven(given, error) }
}
