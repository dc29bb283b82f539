// Pages of executions. The filter decides the order:
//   by partition, or by prefix of the id   ids
//   waiting, resumable                     claim order
//   delayed                                due time
//   parked                                 time of parking
//   ended                                  time of the ending, latest first
//   active                                 ids, descending
//   anything else                          newest first, by creation and id
import { EngineError } from '../../model/errors.ts'
import { id, word } from '../../model/field-kinds.ts'
import { checkFields, type CheckedOf, type RequestOf } from '../../model/field.ts'
import { parseExecutionId } from '../../model/id.ts'
import { idPrefix, kind, lane, namespace, partition, tag } from '../../model/named-fields.ts'
import { publicStates, type PublicState } from '../../model/state.ts'
import type { Sql } from '../../sql/sql.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { pageFields, readPage } from '../kernel/page.ts'
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

export const listFields = {
  namespace: namespace.optional(),
  lane: lane.optional(),
  kind: kind.optional(),
  state: word(publicStates, 'PublicState').optional(),
  tag: tag.optional(),
  parentId: id('execution').optional(),
  /** `{fp:7}` or 7. */
  partition: partition.optional().describe('`{fp:7}` or 7.'),
  /** The first 8 or more characters of the uuid, as in `0190b6d2-4f`. */
  idPrefix: idPrefix.optional(),
  ...pageFields,
}

export interface ListRequest extends RequestOf<typeof listFields> {}

export interface ExecutionPage {
  readonly executions: readonly Execution[]
  readonly nextCursor: string | null
}

export async function list(sql: Sql, caller: Caller, request: ListRequest): Promise<ExecutionPage> {
  const checked = checkFields('list', listFields, request)
  refuseTogether(request)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const filter = filterOf(namespace, checked)
  const source = sourceOf(filter)
  const { rows, nextCursor } = await readPage(request, source.order(filter), (after, limit) =>
    isForeign ? [] : source.read(sql, filter, after, limit),
  )
  return { executions: rows.map(decodeExecution), nextCursor }
}

function filterOf(namespace: string | null, checked: CheckedOf<typeof listFields>): ListFilter {
  const { lane, kind, state, tag, partition, idPrefix } = checked
  const parent = checked.parentId === null ? null : parseExecutionId(checked.parentId)
  return {
    namespace,
    lane,
    kind,
    state,
    tagKey: tag?.key ?? null,
    tagValue: tag?.value ?? null,
    parentId: parent?.uuid ?? null,
    // Children share their parent's partition, so an id with another N has none.
    partition: partition ?? parent?.partition ?? null,
    idPrefix,
  }
}

// Each of these reads its own index; the other fields can be added to any.
function refuseTogether({ partition, tag, parentId, idPrefix }: ListRequest): void {
  const leading: Readonly<Record<string, unknown>> = { partition, tag, parentId, idPrefix }
  const given = Object.keys(leading).filter((name) => leading[name] !== undefined)
  if (given.length < 2) return
  const sentence = `a list takes only one of ${Object.keys(leading).join(', ')}; ${given.join(' and ')} are given`
  throw new EngineError('invalid_input', sentence, { fields: given })
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
