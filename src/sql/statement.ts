// A statement is a named SQL text with the types of its parameters and columns. The types are written once: TypeScript
// derives the values and rows from them, and a test has the database describe every statement and compares.
//
// Names in the text are qualified with the default schema (`flowfabric.ff_...`), so that you can paste a statement into
// psql; the adapters replace the schema when another one is configured.

interface TypeMap {
  uuid: string
  text: string
  bool: boolean
  int2: number
  int4: number
  int8: number
  float8: number
  numeric: string
  bytea: Uint8Array
  jsonb: unknown
  timestamptz: Date
}

type Scalar = keyof TypeMap
/** A parameter: `uuid`, nullable `text?`, an array `int8[]`, or an array with null elements `text?[]`. */
export type ParamType = Scalar | `${Scalar}?` | `${Scalar}[]` | `${Scalar}?[]`
/** A column: as a parameter, or a text of a few possible words, written with `oneOf`. */
export type ColumnType = ParamType | WordColumn<string | null>

/** Only a type: at run time it is the string 'text'. */
export interface WordColumn<T extends string | null> {
  readonly words: T
}

type Value<T> =
  T extends WordColumn<infer Words>
    ? Words
    : T extends `${infer S extends Scalar}?[]`
      ? readonly (TypeMap[S] | null)[]
      : T extends `${infer S extends Scalar}[]`
        ? readonly TypeMap[S][]
        : T extends `${infer S extends Scalar}?`
          ? TypeMap[S] | null
          : T extends Scalar
            ? TypeMap[T]
            : never

export type Params = Readonly<Record<string, ParamType>>
export type Columns = Readonly<Record<string, ColumnType>>
export type ValuesOf<P extends Params> = { readonly [K in keyof P]: Value<P[K]> }
export type RowOf<R extends Columns> = { readonly [K in keyof R]: Value<R[K]> }

export interface Statement<P extends Params = Params, R extends Columns = Columns> {
  /** Unique; the name of the prepared statement. */
  readonly name: string
  /** In the order of `$1, $2, ...`. */
  readonly params: P
  readonly row: R
  readonly text: string
}

const registered = new Map<string, Statement>()

// Postgres truncates the name of a prepared statement to 63 bytes, and the adapters append a hash of the text.
const longestName = 45

/** Declares a statement. Two with one name would share a prepared plan, so the second is refused. */
export function statement<const P extends Params, const R extends Columns>(
  definition: Statement<P, R>,
): Statement<P, R> {
  if (registered.has(definition.name)) throw new Error(`statement ${definition.name} is declared twice`)
  if (definition.name.length > longestName) throw new Error(`statement ${definition.name} has a name that is too long`)
  registered.set(definition.name, definition)
  return definition
}

/** Every statement of the modules loaded so far. */
export function allStatements(): readonly Statement[] {
  return [...registered.values()]
}

/** A text (or enum) column with a few possible words, or null. */
export function oneOf<T extends string | null>(): WordColumn<T> {
  return 'text' as unknown as WordColumn<T>
}
