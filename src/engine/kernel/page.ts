// Lists are read in pages. Each list has an order: the columns by which its rows are sorted. A cursor has the values of the last
// row in these columns, and the next page begins behind them. A list verb has its filter, its statement and its order; this file
// checks `limit` and `cursor`, and cuts the page.
import { decodeCursor, encodeCursor, type CursorField } from '../../model/cursor.ts'
import { EngineError } from '../../model/errors.ts'
import { unchecked } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { namespace } from '../../model/named-fields.ts'
import { show } from '../../model/text.ts'

/** The list checks their values: another list has other limits and another order. */
export const pageFields = {
  /** 0 is an empty page, and more than 1,000 counts as 1,000; 50 by default. */
  limit: unchecked<number>({ kind: 'whole', min: 0, max: Number.MAX_SAFE_INTEGER })
    .optional()
    .describe(`Defaults to ${limits.defaultPageSize}; larger values are lowered to the maximum.`),
  /** `nextCursor` of the page before, with the same filter. */
  cursor: unchecked<string>({ kind: 'named', name: 'Cursor' }).optional(),
}

export interface PageRequest extends RequestOf<typeof pageFields> {}

/** For a list of one namespace, or of all that the caller may read. */
export const namespacePageFields = { namespace: namespace.optional(), ...pageFields }

export interface NamespacePageRequest extends RequestOf<typeof namespacePageFields> {}

export interface Order<Key, Row> {
  /** The key before those of all rows. */
  readonly start: Key
  decode(cursor: string): Key
  /** The cursor of the page that begins behind this row. */
  encode(last: Row): string
}

interface KeyColumn<Value extends string | number = string | number> {
  readonly field: CursorField
  readonly start: Value
}
export type KeyColumns = Readonly<Record<string, KeyColumn>>
type KeyOf<Columns extends KeyColumns> = { readonly [C in keyof Columns]: Columns[C]['start'] }
type RowWith<Columns extends KeyColumns> = { readonly [C in keyof Columns]: Columns[C]['start'] | null }

export const firstUuid = '00000000-0000-0000-0000-000000000000'
export const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const ascending = {
  int: from(-1),
  text: { field: 'text', start: '' } as KeyColumn<string>,
  uuid: { field: 'uuid', start: firstUuid } as KeyColumn<string>,
}
export const descending = {
  int: from(Number.MAX_SAFE_INTEGER),
  uuid: { field: 'uuid', start: lastUuid } as KeyColumn<string>,
}

/** An integer column that begins behind this value. */
export function from(start: number): KeyColumn<number> {
  return { field: 'int', start }
}

/** The order by these columns of a row, which are never null in a listed row. The cursor names the list, and no other list accepts it. */
export function orderBy<const Columns extends KeyColumns>(
  list: string,
  columns: Columns,
): Order<KeyOf<Columns>, RowWith<Columns>> {
  const names = Object.keys(columns)
  const fields = names.map((name) => columns[name]!.field)
  const named = (values: readonly (string | number)[]): KeyOf<Columns> =>
    Object.fromEntries(names.map((name, index) => [name, values[index]])) as KeyOf<Columns>
  return {
    start: named(names.map((name) => columns[name]!.start)),
    decode: (cursor) => named(decodeCursor(list, cursor, fields)),
    encode: (last) =>
      encodeCursor(
        list,
        names.map((name) => last[name]!),
      ),
  }
}

/** Checks `limit` and `cursor`; `checkLimit` is for a list with other limits than most. */
export function checkPage<Key, Row>(
  { limit, cursor }: PageRequest,
  order: Order<Key, Row>,
  checkLimit: (limit: number | undefined) => number = pageLimit,
): { readonly limit: number; readonly after: Key } {
  return { limit: checkLimit(limit), after: cursor === undefined ? order.start : order.decode(cursor) }
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Null: no row follows. */
  readonly nextCursor: string | null
}

/** A page of rows. `read` returns the rows behind the key, at most `limit`: one more than the page has, which shows that more follow. */
export async function readPage<Key, Row extends OrderRow, OrderRow>(
  request: PageRequest,
  order: Order<Key, OrderRow>,
  read: (after: Key, limit: number) => Promise<readonly Row[]> | readonly Row[],
  checkLimit?: (limit: number | undefined) => number,
): Promise<Page<Row>> {
  const { limit, after } = checkPage(request, order, checkLimit)
  if (limit === 0) return { rows: [], nextCursor: null }
  return cutPage(order, limit, await read(after, limit + 1))
}

export function cutPage<Row extends OrderRow, OrderRow>(
  order: Order<unknown, OrderRow>,
  limit: number,
  rows: readonly Row[],
): Page<Row> {
  if (rows.length <= limit) return { rows, nextCursor: null }
  return { rows: rows.slice(0, limit), nextCursor: order.encode(rows[limit - 1]!) }
}

/** 0 is an empty page; more than `most` counts as `most`. */
export function pageLimit(limit: number | undefined, most: number = limits.pageSize): number {
  if (limit === undefined) return limits.defaultPageSize
  if (Number.isInteger(limit) && limit >= 0) return Math.min(limit, most)
  throw new EngineError('invalid_input', `limit is ${show(limit)}; it must be a whole number from 0 to ${most}`, {
    field: 'limit',
  })
}
