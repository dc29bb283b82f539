// A field of a request, declared once. Of a table of fields follow
//
//   the type of the request          RequestOf<typeof table>, with the doc comments of the table
//   the refusal of unknown fields    checkFields
//   the checked values               checkFields, with defaults; null where an optional field is omitted
//   the columns of a set             `column`, which `engine/kernel/set-request.ts` reads
//   the shape in the API document    `wire`, which `server/schema/of-fields.ts` reads
//
// `field-kinds.ts` has the kinds of fields.
import type { Noun } from './id.ts'
import { refuseUnknownFields } from './shape.ts'
import type { TextRule } from './text.ts'

/** The type of a column, or of a parameter. */
export type FieldColumn = 'text' | 'bool' | 'int2' | 'int4' | 'int8' | 'bytea' | 'jsonb' | 'uuid'

/** What the API document states about a value. The engine's check decides. */
export type Wire =
  | { readonly kind: 'text'; readonly rule: TextRule }
  | { readonly kind: 'pattern'; readonly pattern: RegExp; readonly min?: number; readonly max?: number }
  | { readonly kind: 'whole'; readonly min: number; readonly max: number }
  /** `name`: a shape that is written by hand has these words. */
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly name?: string }
  | { readonly kind: 'id'; readonly noun: Noun }
  | { readonly kind: 'duration'; readonly minMs?: number; readonly maxMs?: number }
  | { readonly kind: 'list'; readonly of: AnyField; readonly min?: number; readonly max?: number }
  | { readonly kind: 'fields'; readonly fields: Fields }
  | { readonly kind: 'flag' | 'time' | 'bytes' | 'json' }
  /** A shape that is written by hand, under this name. */
  | { readonly kind: 'named'; readonly name: string }

declare const given: unique symbol

/** The other fields of the request, as they were given. */
export type Given = Readonly<Record<string, unknown>>

/** `Suffix` is the unit that the name of the checked value ends in: `ttl: duration()` is checked to `ttlMs`. */
export interface Field<Value, Checked, Suffix extends string = '', IsOptional extends boolean = boolean> {
  readonly [given]?: Value
  /** Throws the refusal of a value. An optional field is read even if it is omitted. */
  readonly read: (name: string, value: unknown, request: Given) => Checked
  readonly isOptional: IsOptional
  readonly suffix: Suffix
  /** Null: the field is not sent over HTTP. */
  readonly wire: Wire | null
  /** Null: a set has no column for it. */
  readonly column: FieldColumn | null
  readonly isNullable: boolean
  /** Where the column is not named after the field. */
  readonly columnName: string | null
  /** For the API document. */
  readonly description: string | null
  optional(): Field<Value, Checked | null, Suffix, true>
  default(value: Value): Field<Value, Checked, Suffix, true>
  describe(description: string): Field<Value, Checked, Suffix, IsOptional>
  inColumn(name: string): Field<Value, Checked, Suffix, IsOptional>
}

// oxlint-disable-next-line typescript/no-explicit-any -- Any field: `Value` is only a type, and each field has another.
export type AnyField = Field<any, any, string>
export type Fields = Readonly<Record<string, AnyField>>

interface Kind<Checked, Suffix extends string> {
  readonly check: (name: string, value: unknown, request: Given) => Checked
  readonly wire: Wire | null
  readonly column: FieldColumn | null
  readonly suffix?: Suffix
}

/** A kind of field. */
export function field<Value, Checked = Value, Suffix extends string = ''>(
  kind: Kind<Checked, Suffix>,
): Field<Value, Checked, Suffix, false> {
  return withMethods({ ...partsOf(kind), isOptional: false, isNullable: false })
}

/** A kind of field that callers may omit, and whose check then receives undefined. */
export function optionalField<Value, Checked = Value, Suffix extends string = ''>(
  kind: Kind<Checked, Suffix>,
): Field<Value, Checked, Suffix, true> {
  return withMethods({ ...partsOf(kind), isOptional: true, isNullable: true })
}

function partsOf<Checked, Suffix extends string>({ check, wire, column, suffix }: Kind<Checked, Suffix>) {
  return { read: check, wire, column, suffix: suffix ?? ('' as Suffix), columnName: null, description: null }
}

type Methods = 'optional' | 'default' | 'describe' | 'inColumn'

function withMethods<Value, Checked, Suffix extends string, IsOptional extends boolean>(
  parts: Omit<Field<Value, Checked, Suffix, IsOptional>, Methods>,
): Field<Value, Checked, Suffix, IsOptional> {
  const { read } = parts
  return {
    ...parts,
    optional: () =>
      withMethods<Value, Checked | null, Suffix, true>({
        ...parts,
        isOptional: true,
        isNullable: true,
        read: (name, value, request) => (value === undefined ? null : read(name, value, request)),
      }),
    default: (fallback) =>
      withMethods<Value, Checked, Suffix, true>({
        ...parts,
        isOptional: true,
        read: (name, value = fallback, request) => read(name, value, request),
      }),
    describe: (description) => withMethods({ ...parts, description }),
    inColumn: (columnName) => withMethods({ ...parts, columnName }),
  }
}

type ValueOf<F> = F extends Field<infer Value, any, string> ? Value : never
type CheckedBy<F> = F extends Field<any, infer Checked, string> ? Checked : never
type CheckedName<Name, F> = F extends Field<any, any, infer Suffix> ? `${Name & string}${Suffix}` : never
type OptionalNames<T extends Fields> = { [Name in keyof T]: T[Name]['isOptional'] extends true ? Name : never }[keyof T]

// Over a part of `keyof T`, without `as`: the compiler then keeps the doc comments of the table.
type Needed<T extends Fields, Names extends keyof T> = { readonly [Name in Names]: ValueOf<T[Name]> }
type Optional<T extends Fields, Names extends keyof T> = { readonly [Name in Names]?: ValueOf<T[Name]> }

/** A request, as callers write it. An interface that extends it keeps published types readable. */
export type RequestOf<T extends Fields> = Needed<T, Exclude<keyof T, OptionalNames<T>>> & Optional<T, OptionalNames<T>>

/** The checked values of a request. */
export type CheckedOf<T extends Fields> = {
  readonly [Name in keyof T as CheckedName<Name, T[Name]>]: CheckedBy<T[Name]>
}

/** The name of a checked value. */
export function checkedName(name: string, { suffix }: AnyField): string {
  return `${name}${suffix}`
}

/** Refuses unknown fields, then checks each field in the order of the table. */
export function checkFields<const T extends Fields>(operation: string, table: T, request: unknown): CheckedOf<T> {
  const readers = readersOf(table)
  refuseUnknownFields(operation, request, readers.names)
  return readFields(readers, request as Given, {}) as CheckedOf<T>
}

interface FieldReader {
  readonly name: string
  readonly checkedName: string
  readonly read: AnyField['read']
}

interface Readers {
  readonly names: readonly string[]
  readonly fields: readonly FieldReader[]
}

const readersOfTables = new WeakMap<Fields, Readers>()

/** What the check of a table reads for each request, made once. */
export function readersOf(table: Fields): Readers {
  const known = readersOfTables.get(table)
  if (known !== undefined) return known
  const fields = Object.entries(table).map(([name, field]) => {
    return { name, checkedName: checkedName(name, field), read: field.read }
  })
  const readers = { names: Object.keys(table), fields }
  readersOfTables.set(table, readers)
  return readers
}

/** Adds the checked values to `checked`. */
export function readFields(
  { fields }: Readers,
  request: Given,
  checked: Record<string, unknown>,
): Record<string, unknown> {
  for (const { name, checkedName, read } of fields) checked[checkedName] = read(name, request[name], request)
  return checked
}
