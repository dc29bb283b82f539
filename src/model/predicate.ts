// A small closed language over the JSON payload of a signal. It is JSON itself, so that it is stored with its
// condition.
//
//   { path: ['amount'], atMost: 500 }
//   { allOf: [{ path: ['approved'], equals: true }, { not: { path: ['comment'], exists: false } }] }
//
// `path` leads to a value; without it, or empty, that is the payload itself. If the path does not exist, `exists:
// false` holds and every other test fails. Values are compared without conversion: `equals` and `oneOf` by the JSON
// value, in any order of keys; the four comparisons order numbers with numbers and texts with texts by their UTF-16
// units, and fail for anything else. A payload that is absent or not JSON fulfils no predicate, not even a negated one.
import { equalJson, valueAt } from './json.ts'
import type { Json } from './json.ts'

export type PredicatePath = readonly (string | number)[]

interface OnPath {
  readonly path?: PredicatePath
}

export type Predicate =
  | (OnPath & { readonly exists: boolean })
  | (OnPath & { readonly equals: Json })
  | (OnPath & { readonly oneOf: readonly Json[] })
  | (OnPath & { readonly above: number | string })
  | (OnPath & { readonly atLeast: number | string })
  | (OnPath & { readonly below: number | string })
  | (OnPath & { readonly atMost: number | string })
  | { readonly allOf: readonly Predicate[] }
  | { readonly anyOf: readonly Predicate[] }
  | { readonly not: Predicate }

/**
 * A stored predicate with a test that this version does not know is fulfilled by nothing, at whatever depth the test
 * is.
 */
export function fulfils(payload: Json | undefined, predicate: Predicate): boolean {
  return payload !== undefined && isKnown(predicate) && holds(payload, predicate)
}

export const predicateTests = [
  'exists',
  'equals',
  'oneOf',
  'above',
  'atLeast',
  'below',
  'atMost',
  'allOf',
  'anyOf',
  'not',
] as const

function isKnown(predicate: Predicate): boolean {
  if ('allOf' in predicate) return predicate.allOf.every(isKnown)
  if ('anyOf' in predicate) return predicate.anyOf.every(isKnown)
  if ('not' in predicate) return isKnown(predicate.not)
  return predicateTests.some((test) => test in predicate)
}

function holds(payload: Json, predicate: Predicate): boolean {
  if ('allOf' in predicate) return predicate.allOf.every((member) => holds(payload, member))
  if ('anyOf' in predicate) return predicate.anyOf.some((member) => holds(payload, member))
  if ('not' in predicate) return !holds(payload, predicate.not)
  const value = valueAt(payload, predicate.path ?? [])
  if ('exists' in predicate) return (value !== undefined) === predicate.exists
  if (value === undefined) return false
  if ('equals' in predicate) return equalJson(predicate.equals, value)
  if ('oneOf' in predicate) return predicate.oneOf.some((wanted) => equalJson(wanted, value))
  if ('above' in predicate) return isComparable(value, predicate.above) && value > predicate.above
  if ('atLeast' in predicate) return isComparable(value, predicate.atLeast) && value >= predicate.atLeast
  if ('below' in predicate) return isComparable(value, predicate.below) && value < predicate.below
  return isComparable(value, predicate.atMost) && value <= predicate.atMost
}

function isComparable(value: Json, bound: number | string): value is number | string {
  return typeof value === typeof bound
}
