import { expect, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import { refuseLargeJson } from '../../src/model/json-size.ts'
import { limits } from '../../src/model/limits.ts'

function codeOf(text: string, mostItems?: number): string {
  try {
    refuseLargeJson('body', Buffer.from(text), mostItems)
    return 'fits'
  } catch (error) {
    return EngineError.is(error) ? error.code : expect.unreachable(String(error))
  }
}

// The body and the list in it are two values.
const listOf = (item: string, count: number): string =>
  `{"items":[${Array.from({ length: count }, () => item).join(',')}]}`

test.each([
  ['0', 1],
  ['{}', 1],
  ['[ ]', 1],
  ['[[]]', 2],
  ['[ [0]]', 3],
  [`${'['.repeat(50)}${']'.repeat(50)}`, 50],
  ['{"a":{"b":"]},[\\""}}', 3],
  ['[1,"a\\\\",{}]', 4],
])('of %s as many fit as have the most values together', (item, valuesOfOne) => {
  const most = Math.floor((limits.bodyValueCount - 2) / valuesOfOne)
  expect(codeOf(listOf(item, most))).toBe('fits')
  expect(codeOf(listOf(item, most + 1))).toBe('payload_too_large')
})

test('the items of a list in the body have a limit of their own, and depth has one', () => {
  expect(codeOf(listOf('{"a":[1,2,3]}', 500), 500)).toBe('fits')
  expect(codeOf(listOf('{}', 501), 500)).toBe('too_many_items')
  expect(codeOf(`${'['.repeat(100)}${']'.repeat(100)}`)).toBe('fits')
  expect(codeOf(`${'['.repeat(101)}${']'.repeat(101)}`)).toBe('invalid_input')
})
