// The type of a value that is read back, as the compiler sees it; the codec's tests show the same at run time.
import { expect, expectTypeOf, test } from 'vitest'
import { jsonCodec } from '../../src/model/codec.ts'
import type { NotStored, Storable, Stored } from '../../src/model/stored.ts'

interface Order {
  id: string
  items: readonly { sku: string; count: number }[]
  note?: string
}
interface Tree {
  value: number
  children: Tree[]
  parent?: Tree | null
}
interface DatedTree {
  at: Date
  children: DatedTree[]
}
/** Another value each time. */
interface Growing<T> {
  value: T
  next?: Growing<T[]>
}
type Email = string & { readonly __brand: 'email' }
type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
type Expression = number | ['add', Expression, Expression]
type Either = { a: 'x'; b?: never } | { b: 'y'; a?: never }
type Deep<T> = { a: { b: { c: { d: { e: { f: { g: T } } } } } } }
type DatedJson = Date | DatedJson[] | { [key: string]: DatedJson }

class Money {
  readonly amount: number = 1
  readonly #rate: number = 2
  total(): number {
    return this.amount * this.#rate
  }
}

/** Not only compatible: the same type, so that an editor shows its name. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
type IsSame<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
type IsKept<T> = IsSame<T, Stored<T>>

test('a type that JSON keeps is itself', () => {
  expectTypeOf<IsKept<Order>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Order | null>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Order[]>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Tree>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Growing<string>>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Deep<string>>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Email>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Json>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Expression>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Either>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<readonly [string, number?]>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Record<string, number>>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<{ a: unknown; b: any; c: never }>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<any>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<unknown>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<never>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<void>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<undefined>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<object>>().toEqualTypeOf<true>()
  expectTypeOf<IsKept<Uint8Array>>().toEqualTypeOf<true>()
})

test('a Date is a string, an undefined field is optional, functions and symbols are dropped', () => {
  const tag = Symbol('tag')
  interface Mixed {
    readonly at: Date
    later?: Date
    note: string | undefined
    none: undefined
    list: (Date | undefined)[]
    pair: readonly [Date, number, Date?]
    run: () => void
    [tag]: string
  }
  interface Read {
    readonly at: string
    later?: string
    note?: string
    none?: never
    list: (string | null)[]
    pair: readonly [string, number, string?]
  }
  expectTypeOf<Stored<Date>>().toEqualTypeOf<string>()
  expectTypeOf<Stored<Mixed>>().toEqualTypeOf<Read>()
  expectTypeOf<Stored<Record<string, Date>>>().toEqualTypeOf<Record<string, string>>()
  expectTypeOf<Stored<{ at: Date } | string>>().toEqualTypeOf<{ at: string } | string>()
  expectTypeOf<Stored<Deep<Date>>>().toEqualTypeOf<Deep<string>>()
  expectTypeOf<Stored<DatedTree>['children'][0]['children'][0]['at']>().toEqualTypeOf<string>()
  expectTypeOf<Stored<Growing<Date>>['value']>().toEqualTypeOf<string>()
  expectTypeOf<Extract<Stored<DatedJson>, string>>().toEqualTypeOf<string>()
  expectTypeOf<Stored<URL>>().toEqualTypeOf<string>()
  expectTypeOf<Stored<Buffer>>().toEqualTypeOf<Uint8Array>()
  expectTypeOf<Stored<{ bytes: Buffer }>>().toEqualTypeOf<{ bytes: { type: 'Buffer'; data: number[] } }>()
  // Refused at run time; the methods are dropped in any case.
  expectTypeOf<Stored<Money>>().toEqualTypeOf<{ readonly amount: number }>()
  expect(new Money().total()).toBe(2)
  const mixed: Omit<Mixed, 'run'> = {
    at: new Date(0),
    note: undefined,
    none: undefined,
    list: [undefined],
    pair: [new Date(0), 1],
    [tag]: 'gone',
  }
  const read: Read = { at: '1970-01-01T00:00:00.000Z', list: [null], pair: ['1970-01-01T00:00:00.000Z', 1] }
  expect(jsonCodec.decode(jsonCodec.encode(mixed))).toStrictEqual(read)
})

test('the type of a value that JSON cannot store says so', () => {
  expectTypeOf<Stored<Map<string, Date>>>().toEqualTypeOf<NotStored<'a Map: use Object.fromEntries(map)'>>()
  expectTypeOf<Stored<{ all: Set<string> }>>().toEqualTypeOf<{ all: NotStored<'a Set: use Array.from(set)'> }>()
  expectTypeOf<Stored<() => void>>().toEqualTypeOf<NotStored<'a function'>>()
  expectTypeOf<Stored<{ id: bigint }>>().toEqualTypeOf<{ id: NotStored<'a bigint: use a string'> }>()
  expectTypeOf<Storable<{ a: string | undefined; tree: Tree }>>().toEqualTypeOf<unknown>()
  expectTypeOf<Storable<{ at: Date }>>().toExtend<NotStored<string>>()
  expectTypeOf<Storable<Deep<Date>>>().toExtend<NotStored<string>>()
})
