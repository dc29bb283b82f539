// Pages of executions. The filter decides the order:
//   by partition, or by prefix of the id   ids
//   waiting, resumable                     claim order
//   delayed                                due time
//   parked                                 time since when
//   ended                                  time of the ending, latest first
//   active                                 ids, descending
//   anything else                          newest first, by creation and id
import { EngineError } from '../../model/errors.ts'
import { parseExecutionId, parseIdPrefix, parsePartition } from '../../model/id.ts'
import { checkKind, checkLane } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { publicStates, type PublicState } from '../../model/state.ts'
import { checkTagKey, checkTagValue } from '../../model/tag.ts'
import { nearest, show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { pageFields, readPage, type PageRequest } from '../kernel/page.ts'
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
import type { ExecutionSource, ListFilter } from './list/source.ts'
import { decodeExecution, type Execution } from './snapshot.ts'

export interface ListRequest extends PageRequest {
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
}

export interface ExecutionPage {
  readonly executions: readonly Execution[]
  readonly nextCursor: string | null
}

export async function list(sql: Sql, caller: Caller, request: ListRequest): Promise<ExecutionPage> {
  refuseUnknownFields('list', request, fields)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const filter = checkFilter(namespace, request)
  const source = sourceOf(filter)
  const { rows, nextCursor } = await readPage(request, source.order(filter), (after, limit) =>
    isForeign ? [] : source.read(sql, filter, after, limit),
  )
  return { executions: rows.map(decodeExecution), nextCursor }
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
  ...pageFields,
] as const satisfies readonly (keyof ListRequest)[]

function checkFilter(namespace: string | null, request: ListRequest): ListFilter {
  const { lane, kind, state, tag, parentId, partition, idPrefix } = request
  refuseTogether({ partition, tag, parentId, idPrefix })
  const parent = parentId === undefined ? null : parseExecutionId(parentId)
  return {
    namespace,
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

// Each of these reads its own index; the other fields can be added to any.
function refuseTogether(leading: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(leading).filter((name) => leading[name] !== undefined)
  if (given.length < 2) return
  const sentence = `a list takes only one of ${Object.keys(leading).join(', ')}; ${given.join(' and ')} are given`
  throw new EngineError('invalid_input', sentence, { fields: given })
}

function checkState(state: unknown): PublicState {
  if ((publicStates as readonly unknown[]).includes(state)) return state as PublicState
  const near = typeof state === 'string' ? nearest(state, publicStates) : undefined
  const hint = near === undefined ? `it must be one of ${publicStates.join(', ')}` : `did you mean ${near}?`
  throw new EngineError('invalid_input', `state is ${show(state)}; ${hint}`, { field: 'state' })
}

function sourceOf(filter: ListFilter): ExecutionSource {
  if (filter.parentId !== null) return byParent
  if (filter.partition !== null) return byPartition
  if (filter.idPrefix !== null) return byIdPrefix
  if (filter.tagKey !== null) return byTag
  if (filter.state !== null) return sourceOfState[filter.state]
  if (filter.namespace !== null || filter.lane !== null || filter.kind !== null) return byQueue
  return byCreation
}

const sourceOfState: Readonly<Record<PublicState, ExecutionSource>> = {
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
