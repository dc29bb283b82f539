import { describe, expect, test } from 'vitest'
import { checkKind, checkLane, checkNamespace, checkVersion } from '../../src/model/name.ts'
import { refused } from './refused.ts'

describe.each([
  ['lane', checkLane, 64],
  ['namespace', checkNamespace, 128],
  ['kind', checkKind, 256],
  ['version', checkVersion, 64],
])('a %s', (field, check, bytes) => {
  test(`has 1 to ${bytes} bytes`, () => {
    expect(check('a')).toBe('a')
    expect(check('a'.repeat(bytes))).toHaveLength(bytes)
    expect(refused('invalid_input', () => check('')).details).toMatchObject({ field, found: 'empty' })
    refused('invalid_input', () => check('a'.repeat(bytes + 1)))
  })

  test.each(['a\0b', 'a\nb', 'a\x7f', 'a\ud800', 7, null, undefined, ['a']])('is never %j', (value) => {
    refused('invalid_input', () => check(value))
  })
})

test('a lane is printable ASCII', () => {
  expect(checkLane(' gpu~')).toBe(' gpu~')
  refused('invalid_input', () => checkLane('größe'))
})

test('a namespace, a kind and a version may have foreign letters', () => {
  for (const check of [checkNamespace, checkKind, checkVersion]) expect(check('größe')).toBe('größe')
  refused('invalid_input', () => checkNamespace('ä'.repeat(65)))
})

test('a namespace cannot be the sign for all namespaces', () => {
  expect(refused('invalid_input', () => checkNamespace('*')).message).toBe(
    "namespace is '*', which means all namespaces; pass one",
  )
  expect(checkNamespace('team-*')).toBe('team-*')
})
