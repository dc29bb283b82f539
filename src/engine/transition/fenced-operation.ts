// The frame of writes that hold a lease: complete, progress, warnings, steps and waitpoints. Each item of the set is written,
// repeats an earlier write of the same holder, or has lost its lease.
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { lockHeld, type CheckedFence } from './fence.ts'
import { findPassedOver, lostLease, notFound, wholeSet, type FencedRow } from './fenced-answer.ts'
import { withRepeats, type LeaseRecord } from './lease-record.ts'
import { noEffects, onlyEvents, Unpublished, type Effects } from '../kernel/effects.ts'
import { rowLocked, type Outcome, type Sent, type SetOperation } from '../kernel/merge.ts'
import type { MoreToClose } from './more-to-close.ts'

export interface FencedOperation<Item extends CheckedFence, Row extends FencedRow, Answer> {
  callOf(items: readonly Item[]): Call
  /** The form that also closes the other rows of an execution, where the first form leaves them out. */
  wholeCallOf?(items: readonly Item[]): Call
  /** The first form found the execution held, and left it to the whole form. */
  hasMore?(row: Row): boolean
  /** Executions that are known to need it; they are not sent through the first form. */
  readonly more?: MoreToClose
  /** The answer to an item that was written. */
  answer(item: Item, row: Row): Answer
  /** The answer to the same holder's earlier write, from its record; null if the record is of another write. */
  repeat(item: Item, record: LeaseRecord): Answer | null
  readonly writesEvents: boolean
  /** Whether the write ended the execution, so that its dispatch is pending. */
  hasEnded?(row: Row): boolean
}

export function fencedSet<Item extends CheckedFence, Row extends FencedRow, Answer>(
  sql: Sql,
  operation: FencedOperation<Item, Row, Answer>,
): SetOperation<Item, Answer> {
  const unpublished = new Unpublished()
  const finish = async (items: readonly Item[], rows: readonly Row[], isAlone: boolean): Promise<Sent<Answer>> => {
    unpublished.add(effectsOf(operation, rows))
    const outcomes = await outcomesOf(sql, operation, items, rows, isAlone)
    return { outcomes, effects: unpublished.take() }
  }
  return {
    keyOf: (item) => item.uuid,
    async send(items) {
      const whole = items.flatMap(({ uuid }, index) => (operation.more?.take(uuid) === true ? [index + 1] : []))
      const rows = await (whole.length === 0
        ? sendPlain(sql, operation, items)
        : sendBoth(sql, operation, items, whole))
      return finish(items, await closeMore(sql, operation, items, rows), false)
    },
    async sendAlone(item, _again, lockTimeoutMs) {
      const write = operation.wholeCallOf?.([item]) ?? operation.callOf([item])
      const calls = [call(lockHeld, { execution_id: item.uuid }), write]
      const [, rows] = await sql.pipeline(calls, { lockTimeoutMs })
      return finish([item], rows as unknown as Row[], true)
    },
  }
}

async function sendPlain<Item extends CheckedFence, Row extends FencedRow, Answer>(
  sql: Sql,
  operation: FencedOperation<Item, Row, Answer>,
  items: readonly Item[],
): Promise<readonly Row[]> {
  const [rows] = await sql.pipeline([operation.callOf(items)])
  return rows as unknown as readonly Row[]
}

/** Items at the ordinals `whole` go through the whole form, in the same round trip as the others through the first. */
async function sendBoth<Item extends CheckedFence, Row extends FencedRow, Answer>(
  sql: Sql,
  operation: FencedOperation<Item, Row, Answer>,
  items: readonly Item[],
  whole: readonly number[],
): Promise<readonly Row[]> {
  const isWhole = new Set(whole)
  const plain = items.flatMap((_, index) => (isWhole.has(index + 1) ? [] : [index + 1]))
  const closing = operation.wholeCallOf!(itemsAt(items, whole))
  const calls = plain.length === 0 ? [closing] : [closing, operation.callOf(itemsAt(items, plain))]
  const [closed, others = []] = (await sql.pipeline(calls)) as unknown as (readonly Row[])[]
  return [...inPlace(closed!, whole), ...inPlace(others, plain)]
}

/** Those that the first form has left out go through the whole one, and their answers take the places of the first. */
async function closeMore<Item extends CheckedFence, Row extends FencedRow, Answer>(
  sql: Sql,
  operation: FencedOperation<Item, Row, Answer>,
  items: readonly Item[],
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const ordinals = rows.flatMap((row) => (operation.hasMore?.(row) === true ? [row.ordinal] : []))
  if (ordinals.length === 0) return rows
  const [closed] = await sql.pipeline([operation.wholeCallOf!(itemsAt(items, ordinals))])
  return [...rows.filter((row) => !operation.hasMore!(row)), ...inPlace(closed as unknown as readonly Row[], ordinals)]
}

function itemsAt<Item>(items: readonly Item[], ordinals: readonly number[]): Item[] {
  return ordinals.map((ordinal) => items[ordinal - 1]!)
}

/** Answers to the items at `ordinals` of a set. */
function inPlace<Row extends FencedRow>(rows: readonly Row[], ordinals: readonly number[]): readonly Row[] {
  const forAll = rows.find((row) => row.ordinal === wholeSet)
  if (forAll !== undefined) return ordinals.map((ordinal) => ({ ...forAll, ordinal }))
  return rows.map((row) => ({ ...row, ordinal: ordinals[row.ordinal - 1]! }))
}

async function outcomesOf<Item extends CheckedFence, Row extends FencedRow, Answer>(
  sql: Sql,
  operation: FencedOperation<Item, Row, Answer>,
  items: readonly Item[],
  rows: readonly Row[],
  isAlone: boolean,
): Promise<readonly Outcome<Answer>[]> {
  const found = new Map(rows.map((row) => [row.ordinal, row]))
  const rowOf = (index: number): Row | undefined => found.get(index + 1) ?? found.get(wholeSet)
  const missing = items.flatMap((item, index) => (rowOf(index) === undefined ? [item] : []))
  const passedOver = await passedOverOf(sql, missing)
  const outcomes = items.map((item, index) => {
    const row = rowOf(index)
    if (row !== undefined) return outcomeOf(operation, item, row, isAlone)
    return passedOver.has(item) ? rowLocked : notFound(item)
  })
  return withRepeats(sql, items, outcomes, operation)
}

async function passedOverOf<Item extends CheckedFence>(sql: Sql, missing: readonly Item[]): Promise<ReadonlySet<Item>> {
  if (missing.length === 0) return new Set()
  const rows = await sql.query(findPassedOver, {
    execution_ids: missing.map((item) => item.uuid),
    partition_keys: missing.map((item) => item.partition),
    namespaces: missing.map((item) => item.namespace),
  })
  return new Set(rows.map((row) => missing[row.ordinal - 1]!))
}

function effectsOf<Item extends CheckedFence, Row extends FencedRow, Answer>(
  operation: FencedOperation<Item, Row, Answer>,
  rows: readonly Row[],
): Effects {
  if (!operation.writesEvents) return noEffects
  let [isWritten, pendingDispatch] = [false, 0]
  for (const row of rows) {
    if (!row.is_held) continue
    isWritten = true
    if (operation.hasEnded?.(row) === true) pendingDispatch |= row.pending_dispatch
  }
  if (!isWritten) return noEffects
  return pendingDispatch === 0 ? onlyEvents : { pendingDispatch, wroteEvents: true }
}

function outcomeOf<Item extends CheckedFence, Row extends FencedRow, Answer>(
  operation: FencedOperation<Item, Row, Answer>,
  item: Item,
  row: Row,
  isAlone: boolean,
): Outcome<Answer> {
  if (row.is_held) return operation.answer(item, row)
  // The lease seems to have expired. A renewal may have come between the snapshot and the lock.
  if (row.is_last_holder && row.public_state === 'active' && !isAlone) return rowLocked
  return lostLease(item, row)
}
