// The type of a value after it was stored and read back: only types. Everything here is exported to users, so that they
// can name the types and declare what their codec revives.

/**
 * The types that your codec restores beyond JSON: such values keep their type. `unknown` for all.
 *
 * @example
 * declare module 'flowfabric' {
 *   interface Register {
 *     revives: Date | Map<unknown, unknown> | Set<unknown>
 *   }
 * }
 */
export interface Register {}

/** A value that JSON cannot store: the run fails there. `Why` names the alternative. */
export interface NotStored<Why extends string> {
  readonly notStored: Why
}

/**
 * The type of a value of type `T` after it was read back: the result of a step, a task, a child. A type that JSON keeps
 * is unchanged. A `Date` is a string, a field that may be undefined is optional, functions are gone. Bytes are bytes
 * where they are the whole value.
 */
export type Stored<T> = [T] extends [KeptA<T>] ? T : T extends Uint8Array ? Uint8Array : Converted<T>

/** For the input of a handler: the value that is read back must have the declared type. Fields may be undefined. */
export type Storable<T> = [T] extends [KeptA<T, true>]
  ? unknown
  : NotStored<'the input: JSON has no Date, Map or function; take a string, or convert it with an input schema'>

type Revived = Register extends { readonly revives: infer Types } ? Types : never
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- it is never only here
type Whole = Revived | string | number | boolean | null | undefined | void
// oxlint-disable-next-line typescript/no-explicit-any
type AnyFunction = (...args: any) => unknown
// oxlint-disable-next-line typescript/no-explicit-any
type AnyMap = ReadonlyMap<any, any>
// oxlint-disable-next-line typescript/no-explicit-any
type AnySet = ReadonlySet<any>
// oxlint-disable-next-line typescript/no-explicit-any
type WithToJson = { toJSON(key: any): unknown }
type LostInJson = bigint | symbol | AnyFunction | WithToJson | AnyMap | AnySet | ArrayBufferView

// T where JSON keeps all of it; never in the places where it does not. Lax: a field that may be undefined need not be optional. Compared with T as a whole, so that recursive types end and
// the compiler compares each pair once. Three alike: the compiler takes types that are nested three deep by one declaration for
// equal, so that one declaration would miss a Date that is four objects deep.
type KeptA<T, Lax = false> = unknown extends T
  ? T
  : T extends Whole
    ? T
    : T extends LostInJson
      ? never
      : T extends readonly unknown[]
        ? { [I in Places<T>]?: StoredItem<T, I, KeptB<T[I], Lax>> }
        : { [K in keyof T]: Field<T, K, KeptB<T[K], Lax>, Lax> }
type KeptB<T, Lax = false> = unknown extends T
  ? T
  : T extends Whole
    ? T
    : T extends LostInJson
      ? never
      : T extends readonly unknown[]
        ? { [I in Places<T>]?: StoredItem<T, I, KeptC<T[I], Lax>> }
        : { [K in keyof T]: Field<T, K, KeptC<T[K], Lax>, Lax> }
type KeptC<T, Lax = false> = unknown extends T
  ? T
  : T extends Whole
    ? T
    : T extends LostInJson
      ? never
      : T extends readonly unknown[]
        ? { [I in Places<T>]?: StoredItem<T, I, KeptA<T[I], Lax>> }
        : { [K in keyof T]: Field<T, K, KeptA<T[K], Lax>, Lax> }

// JSON drops an undefined field, and writes null for an undefined item.
type Field<T, K extends keyof T, Kept, Lax> = Lax extends true ? Kept : K extends MaybeUndefined<T, K> ? never : Kept
type StoredItem<T extends readonly unknown[], I extends keyof T, Kept> = unknown extends T[I]
  ? T[I]
  : undefined extends T[I]
    ? IsOptional<T, I> extends true
      ? Kept
      : never
    : Kept
// An object and no array, whose items the compiler would expand at once, and without end where a type is its own item.
type Places<T extends readonly unknown[]> = number extends T['length'] ? number : keyof T & `${number}`
type IsOptional<T extends readonly unknown[], I extends keyof T> = number extends T['length']
  ? false
  : {} extends Pick<T, I>
    ? true
    : false
type MaybeUndefined<T, K extends keyof T> = unknown extends T[K]
  ? never
  : undefined extends T[K]
    ? {} extends Pick<T, K>
      ? never
      : K
    : never

type Converted<T> = T extends Whole
  ? T
  : T extends AnyMap
    ? NotStored<'a Map: use Object.fromEntries(map)'>
    : T extends AnySet
      ? NotStored<'a Set: use Array.from(set)'>
      : T extends AnyFunction
        ? NotStored<'a function'>
        : T extends bigint
          ? NotStored<'a bigint: use a string'>
          : T extends symbol
            ? NotStored<'a symbol: use a string'>
            : T extends WithToJson
              ? Part<ReturnType<T['toJSON']>>
              : T extends ArrayBufferView
                ? NotStored<'bytes inside of a value: use a base64 string'>
                : T extends readonly unknown[]
                  ? ConvertedList<T>
                  : [UndefinedKeys<T>] extends [never]
                    ? { [K in keyof T as FieldName<T, K>]: Part<Exclude<T[K], undefined>> }
                    : Flat<
                        {
                          [K in keyof T as K extends UndefinedKeys<T> ? never : FieldName<T, K>]: Part<
                            Exclude<T[K], undefined>
                          >
                        } & {
                          [K in keyof T as K extends UndefinedKeys<T> ? FieldName<T, K> : never]?: Part<
                            Exclude<T[K], undefined>
                          >
                        }
                      >

type Part<T> = [T] extends [KeptA<T>] ? T : Converted<T>
type ConvertedList<T extends readonly unknown[]> = number extends T['length']
  ? T extends unknown[]
    ? ConvertedItem<T[number]>[]
    : readonly ConvertedItem<T[number]>[]
  : { [I in keyof T]: IsOptional<T, I> extends true ? Part<Exclude<T[I], undefined>> : ConvertedItem<T[I]> }
type ConvertedItem<T> = unknown extends T ? T : Part<Exclude<T, undefined>> | (undefined extends T ? null : never)
type UndefinedKeys<T> = { [K in keyof T]-?: MaybeUndefined<T, K> }[keyof T]
type FieldName<T, K extends keyof T> = K extends symbol
  ? never
  : IsFunction<Exclude<T[K], undefined>> extends true
    ? never
    : K
type IsFunction<T> = [T] extends [never] ? false : unknown extends T ? false : [T] extends [AnyFunction] ? true : false
type Flat<T> = { [K in keyof T]: T[K] }
