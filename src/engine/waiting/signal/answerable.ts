// Reads about signals before anything is locked. First, whether their senders are authorized: others are refused here,
// so a wrong token has locked and written nothing, and gets the same error after the same round trip as one for a
// missing waitpoint. Then, which signals end a wait by themselves, as most do. One read for both, without a lock,
// because a suspension's condition and the fields that a token is bound to never change. Everything that could change
// is checked again by the statement that ends the wait (`settle.ts`), or under the lock. Nothing is read if this
// process opened the waitpoint, or has seen the token before. Authorized signals that are not found here take the
// general path.
import { evaluate, type Evaluation } from '../../../model/condition-evaluate.ts'
import { isSatisfiedByOne, readsPayloads } from '../../../model/condition-waits.ts'
import type { Condition } from '../../../model/condition.ts'
import { EngineError } from '../../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../../model/id.ts'
import { isTokenOf } from '../../../model/token.ts'
import { call, type Sql } from '../../../sql/sql.ts'
import { statement, type RowOf } from '../../../sql/statement.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { keyByKid, storedKeyRow } from '../../signing-key/stored-key.ts'
import type { OpenedSuspension, OpenedWaitpoint, OpenedWaitpoints } from '../waitpoint/opened.ts'
import { proofOf, ProvedTokens, refusalOf } from './admit.ts'
import { conditionSignalOf } from './condition-signal.ts'
import { claimedKid, type Incoming } from './incoming.ts'
import { targetParams, targetValues } from './read-locked.ts'

/**
 * A signal that satisfies the condition of its execution's suspension, as long as that is open and no point in time has
 * satisfied it first.
 */
export interface WaitAnswer {
  readonly item: Incoming
  /** Of the execution. */
  readonly uuid: string
  readonly suspensionId: string
  readonly waitpointKey: string | null
  readonly evaluation: Evaluation
  /** The key that signed the token; null for a signal by name. */
  readonly keyScope: string | null
  readonly kid: string | null
}

/** The results of the unlocked read; signals in neither take the general path. */
export interface FoundAnswers {
  readonly answers: readonly WaitAnswer[]
  readonly refused: readonly (readonly [Incoming, EngineError])[]
}

// A larger condition waits for many things.
const mostConditionBytes = 2048

// A row for each existing target, whether or not it is suspended.
const readStatement = statement({
  name: 'signal.read-answerable',
  params: { ...targetParams, kids: 'text?[]' },
  row: {
    ordinal: 'int8',
    now_ms: 'int8',
    execution_id: 'uuid',
    suspension_id: 'uuid?',
    condition: 'jsonb?',
    waitpoint_key: 'text?',
    waitpoint_created_at_ms: 'int8?',
    ...storedKeyRow,
  },
  text: `
select i.ordinal, t.now_ms, e.execution_id, s.suspension_id, s.condition, p.waitpoint_key,
  p.created_at_ms as waitpoint_created_at_ms, k.*
from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[], $5::text[])
  with ordinality as i (waitpoint_id, execution_id, partition_key, namespace, kid, ordinal)
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) t
left join flowfabric.ff_waitpoint_pending p
  on p.waitpoint_id = any (array[i.waitpoint_id]) and p.partition_key = i.partition_key
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[coalesce(i.execution_id, p.execution_id)])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)${keyByKid('e.namespace', 'i.kid')}
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[e.execution_id])
  and (p.waitpoint_id is null or p.suspension_id = s.suspension_id)
  and s.closed_at_ms is null
  and pg_column_size(s.condition) <= ${mostConditionBytes}`,
})

type AnswerableRow = RowOf<typeof readStatement.row>

/** The wait that a signal is evaluated against, and settled with. */
interface OpenWait {
  /** The execution's. */
  readonly uuid: string
  readonly suspensionId: string
  readonly condition: Condition
  /** Null for a signal by name; so are the scope and id of the key. */
  readonly waitpointKey: string | null
  readonly keyScope: string | null
  readonly kid: string | null
  /** At least the time at which the suspension was opened. */
  readonly now: number
}

/** For each signal: the refusal, the wait that it may end, or null without one. */
type Lookups = Map<Incoming, EngineError | OpenWait | null>

// A read costs a round trip, which a stream of signals to one execution should not pay for each.
const mostRemembered = 10_000

export class Answers {
  readonly #sql: Sql
  readonly #keys: SigningKeys
  readonly #opened: OpenedWaitpoints
  readonly #proved = new ProvedTokens()
  /** Targets without a wait to end at the last read. */
  readonly #others = new Set<string>()

  constructor(sql: Sql, keys: SigningKeys, opened: OpenedWaitpoints) {
    this.#sql = sql
    this.#keys = keys
    this.#opened = opened
  }

  /** `again`: an earlier reply was lost. */
  async among(items: readonly Incoming[], again: boolean): Promise<FoundAnswers> {
    const lookups: Lookups = new Map()
    const unread = this.#unread(items, again, lookups)
    await this.#read(unread, lookups)
    const refused = [...lookups].filter((entry): entry is [Incoming, EngineError] => EngineError.is(entry[1]))
    return { answers: this.#answers(items, again, lookups), refused }
  }

  /** A signal took the general path and ended a wait all the same: the next one may end a wait by itself. */
  missed({ target }: Incoming): void {
    this.#others.delete(target.uuid)
  }

  /** Its token was valid once: the next one is read again, and refused before anything is locked. */
  refused(item: Incoming): void {
    this.#proved.forget(item)
  }

  /** The signals to read, to authorize them or because they may end a wait; those with the same proof are together. */
  #unread(items: readonly Incoming[], again: boolean, lookups: Lookups): Incoming[][] {
    const candidates = this.#candidates(items, again)
    const provedHere = new Set<string>()
    const unread = new Map<string, Incoming[]>()
    for (const item of items) {
      // Without a key id, nothing can be looked up.
      if (item.credential.by === 'token' && claimedKid(item.credential) === null) {
        lookups.set(item, refusalOf(this.#keys, item, undefined))
        continue
      }
      const proof = proofOf(item)
      // A signal with a wrong token is read all the same, so that it takes as long as one to a missing waitpoint.
      const wait = candidates.has(item) ? this.#openedHere(item) : null
      if (wait !== null) {
        lookups.set(item, wait)
        if (proof !== null) provedHere.add(proof)
        continue
      }
      const isProved = proof === null || provedHere.has(proof) || this.#proved.has(proof)
      if (isProved && !candidates.has(item)) continue
      const claim = proof ?? item.target.uuid
      const same = unread.get(claim)
      if (same === undefined) unread.set(claim, [item])
      else same.push(item)
    }
    return [...unread.values()]
  }

  #candidates(items: readonly Incoming[], again: boolean): ReadonlySet<Incoming> {
    const first = new Map<string, Incoming>()
    for (const item of items) if (!first.has(item.target.uuid)) first.set(item.target.uuid, item)
    return new Set([...first.values()].filter((item) => mayAnswer(item, again) && !this.#others.has(item.target.uuid)))
  }

  /** By name, or by the valid token of the key that signed it: any other is read. */
  #openedHere({ credential, target: { partition, uuid }, namespace }: Incoming): OpenWait | null {
    if (credential.by === 'name') {
      const opened = this.#opened.takeByExecution(uuid)
      if (opened === undefined || opened.partition !== partition) return null
      return namespace === null || namespace === opened.namespace ? waitByName(opened) : null
    }
    if (credential.by !== 'token') return null
    const opened = this.#opened.take(uuid)
    if (opened === undefined || opened.partition !== partition || opened.kid !== claimedKid(credential)) return null
    const key = this.#keys.openedOf(opened.keyScope, opened.kid)
    if (key === undefined || (namespace !== null && namespace !== opened.namespace)) return null
    const subject = {
      executionId: formatExecutionId(partition, opened.uuid),
      waitpointId: formatWaitpointId(partition, uuid),
      waitpointKey: opened.key,
      createdAt: opened.createdAt,
    }
    return isTokenOf(key, subject, credential.token as string) ? waitOfOpened(opened) : null
  }

  async #read(unread: readonly (readonly Incoming[])[], lookups: Lookups): Promise<void> {
    if (unread.length === 0) return
    const items = unread.map(([first]) => first!)
    const kids = items.map(({ credential }) => claimedKid(credential))
    const [rows] = await this.#sql.pipeline([call(readStatement, { ...targetValues(items), kids })])
    const rowAt = new Map(rows.map((row) => [row.ordinal - 1, row]))
    for (const [place, same] of unread.entries()) {
      const row = rowAt.get(place)
      const refusal = refusalOf(this.#keys, items[place]!, row)
      for (const item of same) lookups.set(item, refusal ?? waitOfRow(row))
    }
  }

  /** At most one for each execution: later ones find the wait ended. */
  #answers(items: readonly Incoming[], again: boolean, lookups: Lookups): WaitAnswer[] {
    const answers = new Map<string, WaitAnswer>()
    const targets = new Set<string>()
    if (this.#others.size > mostRemembered) this.#others.clear()
    for (const item of items) {
      const wait = lookups.get(item)
      const { uuid } = item.target
      if (EngineError.is(wait)) continue
      const isCandidate = !targets.has(uuid) && wait !== undefined && mayAnswer(item, again)
      targets.add(uuid)
      const answer = isCandidate && wait !== null && !answers.has(wait.uuid) ? answerOf(item, wait) : null
      if (answer !== null) {
        answers.set(answer.uuid, answer)
        this.#others.delete(uuid)
        continue
      }
      this.#proved.remember(item)
      if (isCandidate) this.#others.add(uuid)
    }
    return [...answers.values()]
  }
}

// A token belongs to one suspension. By name, the very signal whose reply was lost may have ended another wait before.
function mayAnswer({ credential }: Incoming, again: boolean): boolean {
  return credential.by === 'token' || (credential.by === 'name' && !again)
}

function waitOfOpened(opened: OpenedWaitpoint): OpenWait {
  const { key: waitpointKey, keyScope, kid } = opened
  return { ...waitByName(opened), waitpointKey, keyScope, kid }
}

function waitByName({ uuid, suspensionId, condition, openedAt }: OpenedSuspension): OpenWait {
  return { uuid, suspensionId, condition, waitpointKey: null, keyScope: null, kid: null, now: openedAt }
}

function waitOfRow(row: AnswerableRow | undefined): OpenWait | null {
  if (row === undefined || row.suspension_id === null) return null
  return {
    uuid: row.execution_id,
    suspensionId: row.suspension_id,
    condition: row.condition as Condition,
    waitpointKey: row.waitpoint_key,
    keyScope: row.key_scope,
    kid: row.key_kid,
    now: row.now_ms,
  }
}

/** For an authorized signal. */
function answerOf(item: Incoming, wait: OpenWait): WaitAnswer | null {
  const { uuid, suspensionId, condition, waitpointKey, keyScope, kid, now } = wait
  if (!isSatisfiedByOne(condition)) return null
  const signal = conditionSignalOf(
    { item, found: { waitpoint_key: waitpointKey, now_ms: now } },
    readsPayloads(condition),
  )
  const evaluation = evaluate(condition, { signals: [signal], now })
  if (!evaluation.signals.includes(signal.id)) return null
  return { item, uuid, suspensionId, waitpointKey, evaluation, keyScope, kid }
}
