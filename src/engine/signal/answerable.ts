// Most signals answer a wait that the first one that fits it ends. Which are these, and may their senders send them: read
// without a lock, because a suspension's condition and what a token is bound to never change; whatever else could change is
// asked again by the statement that ends the wait (`settle.ts`); and not read at all where this process opened the waitpoint.
// Who is not found here goes the general way, and so does who may not come in, to hear there what is wrong.
import { evaluate, type Verdict } from '../../model/condition-evaluate.ts'
import { isMetByOne, looksIntoPayloads } from '../../model/condition-waits.ts'
import type { Condition } from '../../model/condition.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../model/id.ts'
import { isTokenOf, kidOf } from '../../model/token.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { OpenedKey, SigningKeys } from '../signing-key/keys.ts'
import { isStored, keyByKid, storedKeyRow, type MaybeStoredKey } from '../signing-key/stored-key.ts'
import type { OpenedWaitpoints } from '../waitpoint/opened.ts'
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
  readonly #opened: OpenedWaitpoints
  /** Targets at which there was nothing to answer the last time. */
  readonly #others = new Set<string>()

  constructor(sql: Sql, keys: SigningKeys, opened: OpenedWaitpoints) {
    this.#sql = sql
    this.#keys = keys
    this.#opened = opened
  }

  /** At most one for each execution: those behind it find the wait ended. `again`: an earlier reply was lost. */
  async among(items: readonly Incoming[], again: boolean): Promise<Answer[]> {
    const answers = new Map<string, Answer>()
    const isAnswer = (item: Incoming, wait: Wait): boolean => {
      const answer = answers.has(wait.uuid) ? null : answerOf(item, wait)
      if (answer !== null) answers.set(wait.uuid, answer)
      return answer !== null
    }
    // One with a wrong token is looked up all the same, and so takes as long as one to a waitpoint that does not exist.
    const unknown = this.#candidates(items, again).filter((item) => {
      const wait = this.#openedHere(item)
      return wait === null || !isAnswer(item, wait)
    })
    for (const [item, wait] of await this.#read(unknown)) isAnswer(item, wait)
    if (this.#others.size > mostRemembered) this.#others.clear()
    for (const { target } of unknown) this.#others.add(target.uuid)
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

  /** By a token of the key that signed it: another one is read. */
  #openedHere({ door, target, namespace }: Incoming): Wait | null {
    if (door.by !== 'token') return null
    const opened = this.#opened.take(target.uuid)
    if (opened === undefined || opened.partition !== target.partition || opened.kid !== kidOf(door.token as string))
      return null
    const key = this.#keys.openedOf(opened.keyScope, opened.kid)
    if (key === undefined || (namespace !== null && namespace !== opened.namespace)) return null
    const { uuid, suspensionId, condition, createdAt, keyScope } = opened
    return { uuid, suspensionId, condition, waitpoint: opened, key, keyScope, now: createdAt }
  }

  async #read(items: readonly Incoming[]): Promise<[Incoming, Wait][]> {
    if (items.length === 0) return []
    const kids = items.map(({ door }) => (door.by === 'token' ? kidOf(door.token as string) : null))
    const [rows] = await this.#sql.pipeline([call(readStatement, { ...targetValues(items), kids })])
    return rows.map((row) => [items[row.ordinal - 1]!, waitOf(this.#keys, row)])
  }
}

// A token answers one suspension. By name, the very signal whose reply was lost may have ended another wait before.
function mayAnswer({ door }: Incoming, again: boolean): boolean {
  if (door.by === 'token') return typeof door.token === 'string'
  return door.by === 'name' && !again
}

/** What an answer is checked against and judged by. */
interface Wait {
  /** The execution's. */
  readonly uuid: string
  readonly suspensionId: string
  readonly condition: Condition
  /** Null for one that comes by name. */
  readonly waitpoint: { readonly key: string; readonly createdAt: number } | null
  /** That the token names, if it can be opened. */
  readonly key: OpenedKey | null
  readonly keyScope: string | null
  /** Not before it was opened. */
  readonly now: number
}

function waitOf(keys: SigningKeys, row: RowOf<typeof readStatement.row>): Wait {
  const { waitpoint_key: key, waitpoint_created_at_ms: createdAt } = row
  return {
    uuid: row.execution_id,
    suspensionId: row.suspension_id,
    condition: row.condition as Condition,
    waitpoint: key === null || createdAt === null ? null : { key, createdAt },
    key: opened(keys, row),
    keyScope: row.key_scope,
    now: row.now_ms,
  }
}

// Who has the wrong wrapping secret hears so on the general way.
function opened(keys: SigningKeys, row: MaybeStoredKey): OpenedKey | null {
  if (!isStored(row)) return null
  try {
    return keys.open(row)
  } catch (error) {
    if (EngineError.is(error)) return null
    throw error
  }
}

function answerOf(item: Incoming, wait: Wait): Answer | null {
  const { uuid, suspensionId, condition, waitpoint, key, keyScope, now } = wait
  if (!isMetByOne(condition)) return null
  const waitpointKey = waitpoint?.key ?? null
  const signal = factOf({ item, found: { waitpoint_key: waitpointKey, now_ms: now } }, looksIntoPayloads(condition))
  const verdict = evaluate(condition, { signals: [signal], now })
  if (!verdict.signals.includes(signal.id) || !mayComeIn(item, wait)) return null
  return { item, uuid, suspensionId, waitpointKey, verdict, keyScope, kid: key?.kid ?? null }
}

function mayComeIn(
  { door, target: { partition, uuid } }: Incoming,
  { uuid: execution, waitpoint, key }: Wait,
): boolean {
  if (door.by !== 'token') return true
  if (key === null || waitpoint === null) return false
  const subject = {
    executionId: formatExecutionId(partition, execution),
    waitpointId: formatWaitpointId(partition, uuid),
    waitpointKey: waitpoint.key,
    createdAt: waitpoint.createdAt,
  }
  return isTokenOf(key, subject, door.token as string)
}
