import { describe, expect, test } from 'vitest'
import { isLive, parseGraceMs, parseKid, parseSecret, parseSeedSecret } from '../../src/model/signing-key.ts'
import { checkWrappingSecret, unwrapSecret, wrapSecret } from '../../src/model/wrapped-secret.ts'
import { refused } from './refused.ts'

describe('a signing key', () => {
  test('has an id, a secret in hex and a grace', () => {
    expect(parseKid('kid-1 of 2026')).toBe('kid-1 of 2026')
    expect(parseSecret('00fF'.repeat(16))).toEqual(Buffer.alloc(32, '00ff', 'hex'))
    expect(parseSeedSecret('ab'.repeat(32))).toEqual(Buffer.alloc(32, 0xab))
    expect([parseGraceMs(0), parseGraceMs('24h')]).toEqual([0, 86_400_000])
  })

  test.each(['', 'a:b', ':', 'a\n', 'é', 'x'.repeat(65), 7, null, undefined])('WPT-08 has no id like %j', (kid) => {
    refused('invalid_kid', () => parseKid(kid))
  })

  test.each([
    '',
    'a',
    'abc',
    '07',
    'ab'.repeat(31),
    'zz'.repeat(32),
    '0x00',
    ' 00',
    '00\n',
    'é'.repeat(2),
    'ab'.repeat(513),
    7,
    null,
  ])('WPT-08 has no secret like %j, and the error does not repeat it', (secret) => {
    const error = refused('invalid_secret_hex', () => parseSecret(secret))
    expect(error.message).toMatch(/^the secret is (?:a string of \d+ characters|of type \w+); it must be an even/)
  })

  test.each([-1, 1.5, NaN, Infinity, '1h30m', null, 2 ** 53])('WPT-08 has no grace like %j', (grace) => {
    refused('invalid_grace_ms', () => parseGraceMs(grace))
  })

  test.each(['', 'ab', 'ab'.repeat(31), 'ab'.repeat(33), 'zz'.repeat(32)])('WPT-05 is not seeded with %j', (secret) => {
    refused('invalid_secret_hex', () => parseSeedSecret(secret))
  })

  test('is live until its grace has passed, the last millisecond included', () => {
    expect(isLive({ expiresAt: null }, 1000)).toBe(true)
    expect([999, 1000, 1001].map((expiresAt) => isLive({ expiresAt }, 1000))).toEqual([false, true, true])
  })
})

describe('a wrapped secret', () => {
  const secret = Buffer.alloc(32, 7)
  const wrapping = 'correct horse battery staple'
  const owner = { namespace: 'acme', kid: 'kid-a' }
  const wrapped = wrapSecret(secret, wrapping, owner)

  test('is returned unchanged, under the same wrapping secret', () => {
    expect(unwrapSecret(wrapped, wrapping, owner)).toEqual(secret)
    expect(wrapped.includes(secret)).toBe(false)
  })

  test('is never the same twice', () => {
    expect(wrapSecret(secret, wrapping, owner)).not.toEqual(wrapped)
  })

  test('under another wrapping secret reports that', () => {
    const error = refused('wrong_wrapping_secret', () => unwrapSecret(wrapped, `${wrapping}r`, owner))
    expect(error.message).toBe(
      'signing key kid-a was wrapped with a different secret, or has been modified; pass the secret that wrapped it',
    )
    expect(JSON.stringify(error)).not.toContain(wrapping)
  })

  test('cannot be moved to another key or namespace', () => {
    refused('wrong_wrapping_secret', () => unwrapSecret(wrapped, wrapping, { ...owner, kid: 'kid-b' }))
    refused('wrong_wrapping_secret', () => unwrapSecret(wrapped, wrapping, { ...owner, namespace: 'other' }))
    refused('wrong_wrapping_secret', () => unwrapSecret(wrapped, wrapping, { namespace: 'acmekid-', kid: 'a' }))
  })

  test('that was changed in any byte is refused', () => {
    for (const place of wrapped.keys()) {
      const changed = Buffer.from(wrapped)
      changed[place]! ^= 1
      refused(place === 0 ? 'corruption' : 'wrong_wrapping_secret', () => unwrapSecret(changed, wrapping, owner))
    }
  })

  test('that was cut is refused', () => {
    for (const length of wrapped.keys()) {
      const code = length <= 29 ? 'corruption' : 'wrong_wrapping_secret'
      refused(code, () => unwrapSecret(wrapped.subarray(0, length), wrapping, owner))
    }
  })

  test.each(['', 'short', 'x'.repeat(15), undefined, null, 7])('does not accept %j as wrapping secret', (value) => {
    refused('invalid_input', () => checkWrappingSecret(value))
  })

  test('needs a wrapping secret of sixteen bytes or more', () => {
    expect(checkWrappingSecret('x'.repeat(16))).toBe('x'.repeat(16))
  })
})
