// The faults that the plan guard searches for in a plan.
import type pg from 'pg'
import { sampleSize } from './plan-sample.ts'

// A few rows for each lane, task and worker; statements that look for one of them read the table.
const smallTables = new Set([
  'ff_queue',
  'ff_lane_registry',
  'ff_migration',
  'ff_event_id',
  'ff_duty',
  'ff_worker',
  'ff_task',
  'ff_policy',
])

// A page is merged over all queues, of which the filled database has 84.
const mostRows = 100 * sampleSize

export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Alias?: string
  readonly Filter?: string
  readonly 'Join Filter'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Faults in any plan, whatever the tables contain. */
export function shapeFaults(node: PlanNode, indexes: Indexes): string[] {
  const type = node['Node Type']
  const faults = (node.Plans ?? []).flatMap((plan) => shapeFaults(plan, indexes))
  if (type === 'Hash Join' || type === 'Merge Join') faults.push(type)
  const table = largeTableOf(node)
  if (table === null) return faults
  if (type === 'Seq Scan') faults.push(`${type} on ${table}`)
  const { 'Index Name': index = '', 'Index Cond': condition } = node
  // The condition may be the predicate of an index that is read in its order.
  if (type.startsWith('Index') && condition === undefined && !isAskedFor(indexes.get(index)))
    faults.push(`${type} on ${table} without a condition`)
  return faults
}

// Two of their indexes begin alike, so the planner may take the wrong one; or a search of one that begins with the
// execution uses only its later columns.
const enteredByFirstColumn = new Set(['ff_step', 'ff_signal', 'ff_waitpoint_pending'])

/** An index that is entered by a later column is read from end to end, though the plan shows a condition. */
export function skipFaults(node: PlanNode, indexes: Indexes): string[] {
  const faults = (node.Plans ?? []).flatMap((plan) => skipFaults(plan, indexes))
  const { 'Index Name': index, 'Index Cond': condition } = node
  const table = largeTableOf(node)
  if (index === undefined || condition === undefined || table === null || !enteredByFirstColumn.has(table))
    return faults
  const column = indexes.get(index)?.columns[0]
  if (column !== undefined && !condition.includes(column)) faults.push(`${index} entered without ${column}`)
  return faults
}

/** The signals that a wait may still take must be found by their own index, not among all signals of the execution. */
export function openFaults(node: PlanNode): string[] {
  const faults = (node.Plans ?? []).flatMap(openFaults)
  const isFiltered = largeTableOf(node) === 'ff_signal' && node.Filter?.includes('taken_at_ms IS NULL') === true
  return isFiltered ? [...faults, `${node['Index Name']} read for signals that are not taken`] : faults
}

export function sizeFaults(node: PlanNode): string[] {
  const plans = node.Plans ?? []
  const faults = plans.flatMap(sizeFaults)
  const table = largeTableOf(node)
  const read = rowsOf(node) + (node['Rows Removed by Filter'] ?? 0) * (node['Actual Loops'] ?? 0)
  if (table !== null && node['Node Type'] !== 'ModifyTable' && read > mostRows)
    faults.push(`${read} rows of ${table} read`)
  const sorted = node['Node Type'] === 'Sort' ? plans.reduce((sum, plan) => sum + rowsOf(plan), 0) : 0
  if (sorted > mostRows) faults.push(`${sorted} rows sorted`)
  return faults
}

function rowsOf(node: PlanNode): number {
  // The count is an average over the loops, to two digits.
  return Math.round((node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0))
}

function largeTableOf({ 'Relation Name': table }: PlanNode): string | null {
  return table === undefined || !table.startsWith('ff_') || smallTables.has(table) ? null : table
}

interface Index {
  readonly table: string
  readonly columns: readonly string[]
  readonly isUnique: boolean
  /** Null for an index of all rows. */
  readonly predicate: string | null
  readonly hasExpressions: boolean
}

/** The indexes by name. */
export type Indexes = ReadonlyMap<string, Index>

export async function readIndexes(client: pg.Client): Promise<Indexes> {
  const { rows } = await client.query<Index & { name: string }>(
    `select c.relname as name, t.relname as table, array_agg(a.attname::text order by k.no) as columns,
       i.indisunique as "isUnique", pg_get_expr(i.indpred, i.indrelid) as predicate,
       i.indexprs is not null as "hasExpressions"
     from pg_index i
     join pg_class c on c.oid = i.indexrelid
     join pg_class t on t.oid = i.indrelid
     cross join unnest(i.indkey) with ordinality as k (attnum, no)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
     where c.relnamespace = 'flowfabric'::regnamespace
     group by c.relname, t.relname, i.indexrelid, i.indrelid`,
  )
  return new Map(rows.map(({ name, ...index }) => [name, index]))
}

/** Tables that are full in one hour and nearly empty in the next. */
export const emptyingTables = [
  'ff_lease',
  'ff_ready',
  'ff_dispatch',
  'ff_grant',
  'ff_suspension_current',
  'ff_signal',
  'ff_waitpoint_pending',
  'ff_step',
  'ff_cancel_backlog',
  'ff_idempotency_key',
  'ff_schedule',
  'ff_progress',
]

/**
 * A row that is not looked up by the key that the statement names. After a vacuum that found hardly a row, every index
 * of a table looks as cheap as its key. An index that is entered by a range, or by its second column, is then read from
 * end to end for each item of a set: every lease that has not expired, for instance. Which index the planner takes is
 * then a matter of luck, so a range that could enter another index is a fault too, whichever it took. `joined` holds
 * the conditions of the joins above the node.
 */
export function keyFaults(node: PlanNode, indexes: Indexes, joined: readonly string[] = []): string[] {
  const conditions = [...joined, ...conditionsOf(node['Join Filter'])]
  const faults = (node.Plans ?? []).flatMap((plan) => keyFaults(plan, indexes, conditions))
  const { 'Index Name': name = '', Alias: alias = '' } = node
  const used = indexes.get(name)
  if (used === undefined || !emptyingTables.includes(used.table)) return faults
  const entering = conditionsOf(node['Index Cond'])
  const own = [...entering, ...conditionsOf(node.Filter)]
  const entered = leadingOf(used.columns, (column) => isNamed(column, entering, alias))
  const others = [...indexes].filter(([, { table }]) => table === used.table)
  for (const [other, { columns, isUnique, predicate, hasExpressions }] of others) {
    if (predicate !== null || hasExpressions) continue
    const named = leadingOf(columns, (column) => isNamed(column, [...own, ...conditions], alias))
    if (named.length === 0 || named.at(-1) === 'namespace') continue
    const isKey = isUnique && named.length === columns.length
    const isMissed = entered.length === 0 || (isKey && named.some((column) => !entered.includes(column)))
    if (isMissed) faults.push(`${name} read where ${other} has ${named.join(', ')}`)
    if (isKey)
      faults.push(...temptations(own, others, columns, alias).map((text) => `${text} where ${other} has its key`))
  }
  return faults
}

/** Other indexes that a range of the node could enter. */
function temptations(
  own: readonly string[],
  others: readonly (readonly [string, Index])[],
  key: readonly string[],
  alias: string,
): string[] {
  return others.flatMap(([name, index]) => {
    const [first = ''] = index.columns
    if (isAskedFor(index) || key.includes(first)) return []
    return own.some((condition) => isRange(condition, first, alias)) ? [`${name} may be read by ${first}`] : []
  })
}

/** Whether every row satisfies its predicate, so that it serves only statements that state it. */
function isAskedFor(index: Index | undefined): boolean {
  return index?.predicate?.includes(' > 0)') === true
}

/** The conditions that must all hold: two in `(a AND (b OR c))`. */
function conditionsOf(text = ''): string[] {
  const inner = /^\((.*)\)$/s.exec(text)?.[1] ?? ''
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < inner.length; at++) {
    if (inner[at] === '(') depth += 1
    if (inner[at] === ')') depth -= 1
    if (depth > 0 || !inner.startsWith(' AND ', at)) continue
    parts.push(inner.slice(start, at))
    start = at + ' AND '.length
  }
  return start === 0 ? [text] : [...parts, inner.slice(start)]
}

function leadingOf(columns: readonly string[], is: (column: string) => boolean): readonly string[] {
  const end = columns.findIndex((column) => !is(column))
  return end === -1 ? columns : columns.slice(0, end)
}

/** Whether the column is compared for equality with a value outside of its row. */
function isNamed(column: string, conditions: readonly string[], alias: string): boolean {
  const equality = new RegExp(`^\\(+(?:${alias}\\.)?${column}(?:\\)::\\w+)? = (?!${alias}\\.)`)
  return conditions.some((condition) => equality.test(condition) && !condition.includes(' OR '))
}

function isRange(condition: string, column: string, alias: string): boolean {
  return new RegExp(`^\\((?:${alias}\\.)?${column} [<>]=? `).test(condition)
}
