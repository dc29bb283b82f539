// Most signals answer a wait that the first one that fits it ends. Which are these, and may their senders send them: read
// without a lock, because a suspension's condition and what a token is bound to never change; whatever else could change is
// asked again by the statement that ends the wait (`settle.ts`). Who is not found here goes the general way, and so does who
// may not come in, to hear there what is wrong.
import { evaluate, type Verdict } from '../../model/condition-evaluate.ts'
import { isMetByOne, looksIntoPayloads } from '../../model/condition-waits.ts'
import type { Condition } from '../../model/condition.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../model/id.ts'
import { isTokenOf, kidOf } from '../../model/token.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { isStored, keyByKid, storedKeyRow } from '../signing-key/stored-key.ts'
import { factOf } from './fact.ts'
import type { Incoming } from './incoming.ts'
import { targetParams, targetValues } from './look.ts'

/** A signal that meets the condition of its execution's suspension, as long as that is open and no time has met it first. */
export interface Answer {
  readonly item: Incoming
  /** Of the execution. */
  readonly uuid: string
  readonly suspensionId: string
  readonly waitpointKey: string | null
  readonly verdict: Verdict
  /** Of the key by which the token is right, as long as it verifies; null for one that comes by name. */
  readonly keyScope: string | null
  readonly kid: string | null
}

// A larger condition waits for many things.
const mostConditionBytes = 2048

const readStatement = statement({
  name: 'signal.read-answerable',
  params: { ...targetParams, kids: 'text?[]' },
  row: {
    ordinal: 'int8',
    now_ms: 'int8',
    execution_id: 'uuid',
    suspension_id: 'uuid',
    condition: 'jsonb',
    waitpoint_key: 'text?',
    waitpoint_created_at_ms: 'int8?',
    ...storedKeyRow,
  },
  text: `
select i.ordinal, t.now_ms, s.execution_id, s.suspension_id, s.condition, p.waitpoint_key,
  p.created_at_ms as waitpoint_created_at_ms, k.*
from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[], $5::text[])
  with ordinality as i (waitpoint_id, execution_id, partition_key, namespace, kid, ordinal)
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) t
left join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[i.waitpoint_id])
join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[coalesce(i.execution_id, p.execution_id)])
  and s.partition_key = i.partition_key
  and (p.waitpoint_id is null or p.suspension_id = s.suspension_id)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[s.execution_id])
  and (i.namespace is null or e.namespace = i.namespace)${keyByKid('e.namespace', 'i.kid')}
where s.closed_at_ms is null and pg_column_size(s.condition) <= ${mostConditionBytes}`,
})

// To look costs a round trip, which a stream of signals to one execution should not pay for each.
const mostRemembered = 10_000

export class Answers {
  readonly #sql: Sql
  readonly #keys: SigningKeys
  /** Targets at which there was nothing to answer the last time. */
  readonly #others = new Set<string>()

  constructor(sql: Sql, keys: SigningKeys) {
    this.#sql = sql
    this.#keys = keys
  }

  /** At most one for each execution: those behind it find the wait ended. `again`: an earlier reply was lost. */
  async among(items: readonly Incoming[], again: boolean): Promise<Answer[]> {
    const asked = this.#candidates(items, again)
    if (asked.length === 0) return []
    const kids = asked.map(({ door }) => (door.by === 'token' ? kidOf(door.token as string) : null))
    const [rows] = await this.#sql.pipeline([call(readStatement, { ...targetValues(asked), kids })])
    const answers = new Map<string, Answer>()
    for (const row of rows) {
      const answer = answers.has(row.execution_id) ? null : answerOf(this.#keys, asked[row.ordinal - 1]!, row)
      if (answer !== null) answers.set(row.execution_id, answer)
    }
    if (this.#others.size > mostRemembered) this.#others.clear()
    for (const { target } of asked) this.#others.add(target.uuid)
    for (const { item } of answers.values()) this.#others.delete(item.target.uuid)
    return [...answers.values()]
  }

  /** One went the general way and ended a wait all the same: the next may be an answer. */
  missed({ target }: Incoming): void {
    this.#others.delete(target.uuid)
  }

  #candidates(items: readonly Incoming[], again: boolean): Incoming[] {
    const first = new Map<string, Incoming>()
    for (const item of items) if (!first.has(item.target.uuid)) first.set(item.target.uuid, item)
    return [...first.values()].filter((item) => mayAnswer(item, again) && !this.#others.has(item.target.uuid))
  }
}

// A token answers one suspension. By name, the very signal whose reply was lost may have ended another wait before.
function mayAnswer({ door }: Incoming, again: boolean): boolean {
  if (door.by === 'token') return typeof door.token === 'string'
  return door.by === 'name' && !again
}

function answerOf(keys: SigningKeys, item: Incoming, row: RowOf<typeof readStatement.row>): Answer | null {
  const condition = row.condition as Condition
  if (!isMetByOne(condition)) return null
  const signal = factOf({ item, found: row }, looksIntoPayloads(condition))
  const verdict = evaluate(condition, { signals: [signal], now: row.now_ms })
  if (!verdict.signals.includes(signal.id) || !mayComeIn(keys, item, row)) return null
  const { execution_id: uuid, suspension_id: suspensionId, waitpoint_key: waitpointKey } = row
  return { item, uuid, suspensionId, waitpointKey, verdict, keyScope: row.key_scope, kid: row.key_kid }
}

function mayComeIn(keys: SigningKeys, { door, target }: Incoming, row: RowOf<typeof readStatement.row>): boolean {
  if (door.by !== 'token') return true
  if (!isStored(row)) return false
  const subject = {
    executionId: formatExecutionId(target.partition, row.execution_id),
    waitpointId: formatWaitpointId(target.partition, target.uuid),
    waitpointKey: row.waitpoint_key!,
    createdAt: row.waitpoint_created_at_ms!,
  }
  try {
    return isTokenOf(keys.open(row), subject, door.token as string)
  } catch (error) {
    if (EngineError.is(error)) return false
    throw error
  }
}
