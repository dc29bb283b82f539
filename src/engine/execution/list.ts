// Pages of executions. Without a state they come newest first, by creation and id; by partition or prefix of the id in the order of ids.
// With a state they come in the order in which that state is worked off: waiting in claim order, delayed by when they are due,
// parked by since when, ended by when, latest first; active ones, which have no such order, by id.
import { createHash } from 'node:crypto'
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, parseExecutionId, parseIdPrefix, parsePartition } from '../../model/id.ts'
import { checkKind, checkLane, checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { publicStates, type PublicState } from '../../model/state.ts'
import { checkTagKey, checkTagValue } from '../../model/tag.ts'
import { nearest, show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'
import { active } from './list/active.ts'
import { byCreation } from './list/by-creation.ts'
import { byIdPrefix } from './list/by-id-prefix.ts'
import { byParent } from './list/by-parent.ts'
import { byPartition } from './list/by-partition.ts'
import { byQueue } from './list/by-queue.ts'
import { byTag } from './list/by-tag.ts'
import { delayed } from './list/delayed.ts'
import { ended } from './list/ended.ts'
import { parked } from './list/parked.ts'
import { resumable, waiting } from './list/ready.ts'
import type { ListFilter, ListSource } from './list/source.ts'
import { decodeExecution, type Execution } from './snapshot.ts'

export interface ListRequest {
  readonly namespace?: string
  readonly lane?: string
  readonly kind?: string
  readonly state?: PublicState
  readonly tag?: { readonly key: string; readonly value: string }
  readonly parentId?: string
  /** `{fp:7}` or 7. */
  readonly partition?: string | number
  /** The first 8 or more characters of the uuid, as in `0190b6d2-4f`. */
  readonly idPrefix?: string
  /** Nought is an empty page, more than 1,000 is 1,000; 50 when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before, with the same filter. */
  readonly cursor?: string
}

export interface ExecutionPage {
  readonly executions: readonly Execution[]
  readonly nextCursor: string | null
}

export async function list(sql: Sql, caller: Caller, request: ListRequest): Promise<ExecutionPage> {
  const filter = checkFilter(caller, request)
  const source = sourceOf(filter)
  const limit = pageLimit(request.limit)
  const after = request.cursor === undefined ? source.start : readCursor(source, filter, request.cursor)
  // Another namespace than the caller's is empty to him, like one that does not exist.
  const isForeign = request.namespace !== undefined && filter.namespace !== request.namespace
  if (limit === 0 || isForeign) return { executions: [], nextCursor: null }

  const rows = await source.read(sql, filter, after, limit + 1)
  const executions = rows.slice(0, limit).map(decodeExecution)
  const hasMore = rows.length > limit
  return { executions, nextCursor: hasMore ? writeCursor(source, filter, source.keyOf(rows[limit - 1]!)) : null }
}

const fields = [
  'namespace',
  'lane',
  'kind',
  'state',
  'tag',
  'parentId',
  'partition',
  'idPrefix',
  'limit',
  'cursor',
] as const satisfies readonly (keyof ListRequest)[]

function checkFilter(caller: Caller, request: ListRequest): ListFilter {
  refuseUnknownFields('list', request, fields)
  const { namespace, lane, kind, state, tag, parentId, partition, idPrefix } = request
  refuseTogether({ partition, tag, parentId, idPrefix })
  const wanted = namespace === undefined ? null : checkNamespace(namespace)
  const parent = parentId === undefined ? null : parseExecutionId(parentId)
  return {
    namespace: caller.namespace ?? wanted,
    lane: lane === undefined ? null : checkLane(lane),
    kind: kind === undefined ? null : checkKind(kind),
    state: state === undefined ? null : checkState(state),
    ...checkTag(tag),
    parentId: parent?.uuid ?? null,
    // Children share their parent's partition, so an id with another N has none.
    partition: partition === undefined ? (parent?.partition ?? null) : parsePartition(partition),
    idPrefix: idPrefix === undefined ? null : parseIdPrefix(idPrefix),
  }
}

function checkTag(tag: ListRequest['tag']): Pick<ListFilter, 'tagKey' | 'tagValue'> {
  if (tag === undefined) return { tagKey: null, tagValue: null }
  refuseUnknownFields('tag', tag, ['key', 'value'])
  return { tagKey: checkTagKey(tag.key), tagValue: checkTagValue(tag.key, tag.value) }
}

// Each of these reads an index of its own; the others may be added to any.
function refuseTogether(leading: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(leading).filter((name) => leading[name] !== undefined)
  if (given.length < 2) return
  throw new EngineError(
    'invalid_input',
    `a list takes only one of ${Object.keys(leading).join(', ')}; ${given.join(' and ')} are given`,
    {
      fields: given,
    },
  )
}

function checkState(state: unknown): PublicState {
  if ((publicStates as readonly unknown[]).includes(state)) return state as PublicState
  const near = typeof state === 'string' ? nearest(state, publicStates) : undefined
  const hint = near === undefined ? `it must be one of ${publicStates.join(', ')}` : `did you mean ${near}?`
  throw new EngineError('invalid_input', `state is ${show(state)}; ${hint}`, { field: 'state' })
}

function sourceOf(filter: ListFilter): ListSource {
  if (filter.parentId !== null) return byParent
  if (filter.partition !== null) return byPartition
  if (filter.idPrefix !== null) return byIdPrefix
  if (filter.tagKey !== null) return byTag
  if (filter.state !== null) return sourceOfState[filter.state]
  if (filter.namespace !== null || filter.lane !== null || filter.kind !== null) return byQueue
  return byCreation
}

const sourceOfState: Readonly<Record<PublicState, ListSource>> = {
  waiting,
  resumable,
  delayed,
  rate_limited: parked,
  waiting_children: parked,
  suspended: parked,
  active,
  completed: ended,
  failed: ended,
  cancelled: ended,
  expired: ended,
  skipped: ended,
}

// Within a partition the cursor is the last id itself; elsewhere it is opaque, and good for this very filter.
function readCursor(source: ListSource, filter: ListFilter, cursor: string): readonly (string | number)[] {
  if (source !== byPartition) return decodeCursor(listName(source, filter), cursor, source.shape)
  const { partition, uuid } = parseCursorId(cursor)
  if (partition === filter.partition) return [uuid]
  throw new EngineError(
    'invalid_cursor',
    `the cursor is of partition ${partition}, the list of ${filter.partition}; start without a cursor`,
  )
}

function parseCursorId(cursor: string): { partition: number; uuid: string } {
  try {
    return parseExecutionId(cursor)
  } catch (cause) {
    throw new EngineError(
      'invalid_cursor',
      'the cursor of a list by partition is the last execution id of the page before',
      {},
      { cause },
    )
  }
}

function writeCursor(source: ListSource, filter: ListFilter, key: readonly (string | number)[]): string {
  if (source === byPartition) return formatExecutionId(filter.partition!, key[0] as string)
  return encodeCursor(listName(source, filter), key)
}

function listName(source: ListSource, filter: ListFilter): string {
  const digest = createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
  return `${source.name} ${digest}`
}
