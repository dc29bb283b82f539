// The request of an operation that works in sets, declared once as a table of fields. From the table follow the check of
// one request, and the arrays of a set: parameters, their values, and the CTE `input` that turns them into rows.
import {
  checkedName,
  readersOf,
  readFields,
  type CheckedOf,
  type FieldColumn,
  type Fields,
  type Given,
} from '../../model/field.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Params, ParamType } from '../../sql/statement.ts'
import type { Caller } from './caller.ts'

/** The fields that the requests of several verbs begin with, such as a fence. */
export interface RequestStart<Item, Start extends Fields> {
  readonly fields: Start
  readonly check: (caller: Caller, request: never) => Item
  readonly params: Params
  /** The columns of `input` that `params` fill. */
  readonly input: string
  readonly isMaterialized: boolean
  readonly values: (items: readonly Item[]) => Readonly<Record<string, readonly unknown[]>>
}

/** A column that no field has: it is made for each item, from its checked values. */
export interface Derived<Checked, Value> {
  readonly column: FieldColumn
  readonly isNullable?: boolean
  /** If the column is not named after the value. */
  readonly columnName?: string
  readonly from: (checked: Checked, request: Given) => Value
}

export type DerivedOf<Item, Values> = { readonly [Name in keyof Values]: Derived<Item, Values[Name]> }

/** The values of the parameters that the same table made. */
export type SetValues = Readonly<Record<string, readonly never[]>>

export interface SetRequest<Item, Table extends Fields> {
  readonly fields: Table
  readonly check: (caller: Caller, request: unknown) => Item
  /** Of the statement, from `$1`. */
  readonly params: Params
  /** The beginning of the statement: `with input as (...)`. */
  readonly input: string
  /** The columns of `input` behind those of every such verb. */
  readonly columns: readonly string[]
  /** The values of `params`. */
  readonly values: (items: readonly Item[]) => SetValues
}

/** A checked request, as the statement takes it. */
export type ItemOf<Request extends { readonly check: (caller: Caller, request: unknown) => unknown }> = ReturnType<
  Request['check']
>

interface Column {
  /** In the item. */
  readonly name: string
  /** In the statement. */
  readonly columnName: string
  readonly type: FieldColumn
  readonly isNullable: boolean
}

export function setRequest<Start, StartTable extends Fields, const Table extends Fields, Values = unknown>(
  start: RequestStart<Start, StartTable>,
  operation: string,
  table: Table,
  derived: DerivedOf<Start & CheckedOf<Table>, Values> = {} as DerivedOf<Start & CheckedOf<Table>, Values>,
): SetRequest<Start & CheckedOf<Table> & Values, StartTable & Table> {
  type Item = Start & CheckedOf<Table> & Values
  const fields: StartTable & Table = { ...start.fields, ...table }
  const { names } = readersOf(fields)
  const readers = readersOf(table)
  const made = Object.entries<Derived<never, unknown>>(derived)
  const columns = [
    ...fieldColumns(table),
    ...made.map(([name, { column, isNullable, columnName }]) => columnOf(name, column, isNullable, columnName)),
  ]
  return {
    fields,
    check(caller, request) {
      refuseUnknownFields(operation, request, names)
      const item = start.check(caller, request as never) as Record<string, unknown>
      readFields(readers, request as Given, item)
      for (const [name, { from }] of made) item[name] = from(item as never, request as Given)
      return item as Item
    },
    params: { ...start.params, ...Object.fromEntries(columns.map(paramOf)) },
    input: inputText(start, columns),
    columns: columns.map(({ columnName }) => columnName),
    values(items) {
      const values: Record<string, readonly unknown[]> = { ...start.values(items) }
      for (const { name, columnName } of columns) {
        values[columnName] = items.map((item) => (item as Record<string, unknown>)[name])
      }
      return values as SetValues
    },
  }
}

function fieldColumns(table: Fields): readonly Column[] {
  return Object.entries(table).flatMap(([name, field]) => {
    const { column, columnName, isNullable } = field
    return column === null ? [] : [columnOf(checkedName(name, field), column, isNullable, columnName)]
  })
}

function columnOf(name: string, type: FieldColumn, isNullable = false, columnName: string | null = null): Column {
  return { name, columnName: columnName ?? inSnakeCase(name), type, isNullable }
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function paramOf({ columnName, type, isNullable }: Column): [string, ParamType] {
  return [columnName, isNullable ? `${type}?[]` : `${type}[]`]
}

function inputText<Item>(
  { params, input, isMaterialized }: RequestStart<Item, Fields>,
  columns: readonly Column[],
): string {
  const types = [...Object.values(params), ...columns.map((column) => paramOf(column)[1])]
  const arrays = types.map((type, index) => `$${index + 1}::${type.replace('?', '')}`)
  return `
with input as ${isMaterialized ? 'materialized ' : ''}(
  select *
  from unnest(${arrays.join(', ')})
    with ordinality as i (${[input, ...columns.map(({ columnName }) => columnName), 'ordinal'].join(', ')})
)`
}
