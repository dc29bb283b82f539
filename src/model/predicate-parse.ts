import { EngineError, refusal } from './errors.ts'
import { parseJson } from './json.ts'
import type { Json } from './json.ts'
import { limits } from './limits.ts'
import { predicateTests } from './predicate.ts'
import type { Predicate, PredicatePath } from './predicate.ts'
import { ownFields, readShape } from './shape.ts'
import type { Reader } from './shape.ts'
import { checkText, oneOf, show } from './text.ts'

const code = 'invalid_condition'

export function parsePredicate(at: string, value: unknown): Predicate {
  return parseWithin(at, value, 1)
}

type Test = (typeof predicateTests)[number]
const composites: readonly Test[] = ['allOf', 'anyOf', 'not']

function parseWithin(at: string, value: unknown, depth: number): Predicate {
  if (depth > limits.predicateDepth) {
    throw new EngineError(code, `${at} is nested deeper than ${limits.predicateDepth}; make it flatter`, { field: at })
  }
  const test = testOf(at, value)
  const path = composites.includes(test) ? {} : { path: parsePath }
  return { ...readShape(code, at, value, { ...path, [test]: readersAt(depth)[test] }) } as Predicate
}

/** The one test of the object; two would leave open how they are joined. */
function testOf(at: string, value: unknown): Test {
  const given = [...(ownFields(value) ?? [])].filter(([, operand]) => operand !== undefined).map(([name]) => name)
  const [first, second] = predicateTests.filter((test) => given.includes(test))
  if (first !== undefined && second === undefined) return first
  if (second !== undefined)
    throw refusal(code, at, `two tests, ${first} and ${second}`, 'one test; combine several with allOf')
  const stranger = given.find((name) => name !== 'path')
  throw refusal(code, `the test of ${at}`, show(stranger ?? value), oneOf(stranger, predicateTests))
}

function readersAt(depth: number): Readonly<Record<Test, Reader>> {
  const inner: Reader<Predicate> = (at, value) => parseWithin(at, value, depth + 1)
  const members = listOf(inner)
  return {
    exists: parseBoolean,
    equals: parseValue,
    oneOf: listOf(parseValue),
    above: parseBound,
    atLeast: parseBound,
    below: parseBound,
    atMost: parseBound,
    allOf: members,
    anyOf: members,
    not: inner,
  }
}

function listOf<T>(item: Reader<T>): Reader<readonly T[]> {
  return (at, value) => {
    if (Array.isArray(value) && value.length > 0)
      return Array.from(value as unknown[], (each, i) => item(`${at}[${i}]`, each))
    throw refusal(code, at, Array.isArray(value) ? 'empty' : show(value), 'an array of at least one element')
  }
}

function parsePath(at: string, value: unknown): PredicatePath {
  if (!Array.isArray(value)) throw refusal(code, at, show(value), "an array of keys and indexes, such as ['items', 0]")
  return Array.from(value as unknown[], (step, i) => parseStep(`${at}[${i}]`, step))
}

function parseStep(at: string, step: unknown): string | number {
  if (typeof step === 'string') return parseText(at, step)
  if (typeof step === 'number' && Number.isSafeInteger(step) && step >= 0) return step
  throw refusal(code, at, show(step), 'a key, or an array index starting at 0')
}

function parseBoolean(at: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw refusal(code, at, show(value), 'true or false')
}

function parseBound(at: string, value: unknown): number | string {
  if (typeof value === 'string') return parseText(at, value)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw refusal(code, at, show(value), 'a number or a string')
}

function parseText(at: string, value: string): string {
  return checkText(at, value, { maxBytes: limits.conditionBytes, code })
}

function parseValue(at: string, value: unknown): Json {
  return parseJson(at, value, { code, maxDepth: limits.predicateValueDepth, maxTextBytes: limits.conditionBytes })
}
