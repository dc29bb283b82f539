// A queue is interned once, in a transaction of its own that has committed before the first execution names it: a
// create never holds the registry's lock, and a reader never sees an execution whose lane is missing. Ids are never
// reused, so a process may cache them for ever.
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

export interface Queue {
  readonly namespace: string
  readonly lane: string
  readonly kind: string
  readonly version: string | null
  /** Sorted, without repeats. */
  readonly capabilities: readonly string[]
}

// Not md5: a server in FIPS mode has none.
const capabilityDigest = `encode(substring(sha256(convert_to(array_to_string($5::text[], ','), 'UTF8')) for 16), 'hex')::uuid`

const registerLane = statement({
  name: 'lane.register',
  params: { namespace: 'text', lane: 'text', registered_by: 'text' },
  row: {},
  text: `
insert into flowfabric.ff_lane_registry (namespace, lane_id, registered_at_ms, registered_by)
values ($1, $2, flowfabric.ff_now_ms(), $3)
on conflict (namespace, lane_id) do nothing`,
})

const internQueue = statement({
  name: 'queue.intern',
  params: { namespace: 'text', lane: 'text', kind: 'text', version: 'text', capabilities: 'text[]' },
  row: {},
  text: `
insert into flowfabric.ff_queue
  (namespace, lane_id, execution_kind, task_version, required_capabilities, capability_digest, created_at_ms)
select $1, $2, $3, $4, $5::text[], ${capabilityDigest}, flowfabric.ff_now_ms()
where not exists (
  select from flowfabric.ff_queue
  where namespace = $1 and lane_id = $2 and execution_kind = $3 and task_version = $4
    and capability_digest = ${capabilityDigest})
on conflict on constraint ff_queue_identity do nothing`,
})

// After the insert, in a statement of its own: the row may be that of another transaction that the insert waited for.
const readQueue = statement({
  name: 'queue.read',
  params: { namespace: 'text', lane: 'text', kind: 'text', version: 'text', capabilities: 'text[]' },
  row: { queue_id: 'int4' },
  text: `
select queue_id
from flowfabric.ff_queue
where namespace = $1 and lane_id = $2 and execution_kind = $3 and task_version = $4
  and capability_digest = ${capabilityDigest}`,
})

export class QueueRegistry {
  readonly #sql: Sql
  readonly #known = new Map<string, number>()
  readonly #asked = new Map<string, Promise<number>>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** The ids of queues, in order; queries the database only for queues that are not cached. */
  async idsOf(queues: readonly Queue[]): Promise<number[]> {
    const ids = queues.map((queue) => this.#known.get(keyOf(queue)))
    if (!ids.includes(undefined)) return ids as number[]
    return Promise.all(queues.map(async (queue, index) => ids[index] ?? this.#ask(queue)))
  }

  #ask(queue: Queue): Promise<number> {
    const key = keyOf(queue)
    const asked = this.#asked.get(key)
    if (asked !== undefined) return asked
    const asking = this.#intern(queue)
      .then((id) => {
        this.#known.set(key, id)
        return id
      })
      .finally(() => this.#asked.delete(key))
    this.#asked.set(key, asking)
    return asking
  }

  async #intern(queue: Queue): Promise<number> {
    const { namespace, lane, kind, capabilities } = queue
    const identity = { namespace, lane, kind, version: queue.version ?? '', capabilities }
    const [, , rows] = await this.#sql.pipeline([
      call(registerLane, { namespace, lane, registered_by: 'create_execution' }),
      call(internQueue, identity),
      call(readQueue, identity),
    ])
    return rows[0]!.queue_id
  }
}

// No part can contain a NUL, so the parts cannot run into each other.
function keyOf({ namespace, lane, kind, version, capabilities }: Queue): string {
  return `${namespace}\0${lane}\0${kind}\0${version ?? ''}\0${capabilities.length === 0 ? '' : capabilities.join()}`
}
