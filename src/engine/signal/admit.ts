// Who may come in, and to which execution. One read, before any lock: a stranger without the right token holds up nobody,
// costs one look and learns nothing.
import { invalidLink, verifyLink } from '../../model/approval-link.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../model/id.ts'
import { checkToken, kidOf } from '../../model/token.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { isStored, keyByKid, storedKeyRow, type Wrapping } from '../signing-key/stored-key.ts'
import type { Incoming } from './incoming.ts'

/** An item whose sender may signal this execution. */
export interface Admitted {
  readonly item: Incoming
  /** The execution's. */
  readonly uuid: string
  readonly partition: number
  readonly waitpointUuid: string | null
}

const row = {
  ordinal: 'int8',
  now_ms: 'int8',
  execution_id: 'uuid',
  lane_id: 'text',
  waitpoint_key: 'text',
  created_at_ms: 'int8',
  ...storedKeyRow,
} as const

const findWaitpoints = statement({
  name: 'signal.admit',
  params: { waitpoint_ids: 'uuid[]', partition_keys: 'int2[]', namespaces: 'text?[]', kids: 'text?[]' },
  row,
  text: `
select i.ordinal, flowfabric.ff_now_ms() as now_ms, e.execution_id, q.lane_id, p.waitpoint_key, p.created_at_ms,
  k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret
from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[])
  with ordinality as i (waitpoint_id, partition_key, namespace, kid, ordinal)
join flowfabric.ff_waitpoint_pending p
  on p.waitpoint_id = any (array[i.waitpoint_id]) and p.partition_key = i.partition_key
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[p.execution_id]) and (i.namespace is null or e.namespace = i.namespace)
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])${keyByKid('e.namespace', 'i.kid')}`,
})

type WaitpointRow = RowOf<typeof row>

export async function admit(
  sql: Sql,
  wrapping: Wrapping,
  items: readonly Incoming[],
): Promise<(Admitted | EngineError)[]> {
  const byWaitpoint = items.filter(({ target }) => target.noun === 'waitpoint')
  const rows = byWaitpoint.length === 0 ? [] : await sql.query(findWaitpoints, columnsOf(byWaitpoint))
  const found = new Map(rows.map((each) => [byWaitpoint[each.ordinal - 1], each]))
  return items.map((item) => {
    const { uuid, partition, noun } = item.target
    if (noun === 'execution') return { item, uuid, partition, waitpointUuid: null }
    try {
      const waitpoint = checkDoor(wrapping, item, found.get(item))
      return { item, uuid: waitpoint.execution_id, partition, waitpointUuid: uuid }
    } catch (error) {
      if (EngineError.is(error)) return error
      throw error
    }
  })
}

function columnsOf(items: readonly Incoming[]) {
  return {
    waitpoint_ids: items.map(({ target }) => target.uuid),
    partition_keys: items.map(({ target }) => target.partition),
    namespaces: items.map(({ namespace }) => namespace),
    kids: items.map(({ door }) => claimedKid(door)),
  }
}

function claimedKid(door: Incoming['door']): string | null {
  if (door.by === 'link') return door.kid
  return door.by === 'token' && typeof door.token === 'string' ? kidOf(door.token) : null
}

function checkDoor(wrapping: Wrapping, { door, target }: Incoming, found: WaitpointRow | undefined): WaitpointRow {
  const waitpointId = formatWaitpointId(target.partition, target.uuid)
  const keys = found !== undefined && isStored(found) ? [wrapping.open(found)] : []
  const now = found?.now_ms ?? 0
  switch (door.by) {
    case 'token':
      checkToken(door.token, found === undefined ? null : subjectOf(waitpointId, target.partition, found), keys, now)
      return found!
    case 'link':
      if (verifyLink(door.link, keys, now) === null || found === undefined) throw invalidLink()
      return found
    default:
      if (found === undefined) {
        throw new EngineError('waitpoint_not_found', `waitpoint ${waitpointId} does not exist`, { waitpointId })
      }
      if (door.by === 'right') checkSameLane(door.lane, found)
      return found
  }
}

function subjectOf(waitpointId: string, partition: number, found: WaitpointRow) {
  return {
    executionId: formatExecutionId(partition, found.execution_id),
    waitpointId,
    waitpointKey: found.waitpoint_key,
    createdAt: found.created_at_ms,
  }
}

function checkSameLane(lane: string | null, { lane_id: actual }: WaitpointRow): void {
  if (lane === null || lane === actual) return
  const sentence = `lane_mismatch: the execution is in lane '${actual}', not in '${lane}'; look again what is approved`
  throw new EngineError('invalid_input', sentence, { field: 'lane', lane: actual })
}
