import { createHmac, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SigningKey } from '../../src/model/signing-key.ts'
import { checkToken, kidOf, mintToken, tokenFingerprint } from '../../src/model/token.ts'
import type { TokenSubject } from '../../src/model/token.ts'
import { refused } from './refused.ts'

const key: SigningKey = { kid: 'kid-a', secret: createSecretKey(Buffer.alloc(32, 7)), expiresAt: null }
const subject: TokenSubject = {
  executionId: '{fp:7}:018f0000-0000-7000-8000-000000000001',
  waitpointId: '{fp:7}:018f0000-0000-7000-8000-00000000000a',
  waitpointKey: 'approval',
  createdAt: 1_800_000_000_000,
}
const token = mintToken(key, subject)
const now = 1_800_000_001_000

describe('a waitpoint token', () => {
  test('WPT-01 is a key id and an HMAC-SHA256 over length-prefixed fields', () => {
    const fields = [
      'flowfabric waitpoint token v1',
      subject.executionId,
      subject.waitpointId,
      'approval',
      '1800000000000',
    ]
    const message = fields.map((field) => {
      const length = Buffer.from([0, 0, 0, Buffer.byteLength(field)])
      return Buffer.concat([length, Buffer.from(field)])
    })
    const digest = createHmac('sha256', key.secret).update(Buffer.concat(message)).digest('hex')
    expect(token).toBe(`kid-a:${digest}`)
    expect(mintToken(key, { ...subject })).toBe(token)
  })

  test('WPT-02 is accepted for its own waitpoint', () => {
    expect(() => checkToken(token, subject, [key], now)).not.toThrow()
  })

  test.each([undefined, null, ''])('WPT-02 that is %j is missing', (absent) => {
    refused('missing_token', () => checkToken(absent, subject, [key], now))
  })

  test('WPT-02 that was changed in any one place, or cut, or lengthened, is refused', () => {
    for (const [place, letter] of token.split('').entries()) {
      for (const other of ['0', 'f', ':', ' ', 'A'].filter((each) => each !== letter)) {
        const changed = token.slice(0, place) + other + token.slice(place + 1)
        refused('invalid_token', () => checkToken(changed, subject, [key], now))
      }
      if (place > 0) refused('invalid_token', () => checkToken(token.slice(0, place), subject, [key], now))
      refused('invalid_token', () => checkToken(token.slice(0, place) + token.slice(place + 1), subject, [key], now))
    }
    refused('invalid_token', () => checkToken(`${token}0`, subject, [key], now))
  })

  test.each([
    token.toUpperCase(),
    `kid-a:${token.slice(6).toUpperCase()}`,
    `kid-b:${token.slice(6)}`,
    token.slice(6),
    `:${token.slice(6)}`,
    ` ${token}`,
    `${token}\n`,
    `kid-a:${'٣'.repeat(64)}`,
    `kid-a:${'f'.repeat(63)}\u{1f600}`,
    `kid-á:${token.slice(6)}`,
    'constructor:x',
    'x'.repeat(100_000),
    7,
    {},
    [token],
  ])('WPT-02 that is spelled differently is refused (%#)', (wrong) => {
    const error = refused('invalid_token', () => checkToken(wrong, subject, [key], now))
    expect(error.message).toBe('the token is not valid for this waitpoint; send the token that was issued with it')
    expect(error.details).toEqual({})
  })

  test.each([
    ['executionId', '{fp:7}:018f0000-0000-7000-8000-000000000002'],
    ['waitpointId', '{fp:7}:018f0000-0000-7000-8000-00000000000b'],
    ['waitpointKey', 'review'],
    ['createdAt', 1_800_000_000_001],
  ])('WPT-03 of another %s is refused', (field, value) => {
    const other = { ...subject, [field]: value }
    expect(mintToken(key, other)).not.toBe(token)
    refused('invalid_token', () => checkToken(token, other, [key], now))
  })

  test('cannot be valid for a waitpoint that does not exist, and is refused with the same words', () => {
    const unknown = refused('invalid_token', () => checkToken(token, null, [key], now))
    const wrong = refused('invalid_token', () => checkToken(`${token.slice(0, -1)}x`, subject, [key], now))
    expect(unknown.toJSON()).toEqual(wrong.toJSON())
    const forNobody = mintToken(key, { executionId: '', waitpointId: '', waitpointKey: '', createdAt: 0 })
    refused('invalid_token', () => checkToken(forNobody, null, [key], now))
  })

  test('of another secret, or of no known key, is refused', () => {
    const other: SigningKey = { ...key, secret: createSecretKey(Buffer.alloc(32, 8)) }
    refused('invalid_token', () => checkToken(token, subject, [other], now))
    refused('invalid_token', () => checkToken(token, subject, [], now))
    const withoutSecret = mintToken({ kid: 'nobody', secret: createSecretKey(new Uint8Array(32)) }, subject)
    refused('invalid_token', () => checkToken(withoutSecret, subject, [key], now))
  })

  test('of a key in grace holds to the last millisecond', () => {
    const current: SigningKey = { kid: 'kid-b', secret: createSecretKey(Buffer.alloc(32, 9)), expiresAt: null }
    const keys = [current, { ...key, expiresAt: now }]
    expect(() => checkToken(token, subject, keys, now)).not.toThrow()
    refused('invalid_token', () => checkToken(token, subject, keys, now + 1))
    expect(() => checkToken(mintToken(current, subject), subject, keys, now + 1)).not.toThrow()
  })

  test('binds its fields one by one: no two lists of fields are the same message', () => {
    const text = fc.string({ maxLength: 4 })
    const subjects = fc.record({ executionId: text, waitpointId: text, waitpointKey: text, createdAt: fc.nat(99) })
    fc.assert(
      fc.property(subjects, subjects, (a, b) => {
        const same = JSON.stringify(Object.values({ ...a })) === JSON.stringify(Object.values({ ...b }))
        expect(mintToken(key, a) === mintToken(key, b)).toBe(same)
      }),
    )
    expect(mintToken(key, { ...subject, waitpointId: 'ab', waitpointKey: 'c' })).not.toBe(
      mintToken(key, { ...subject, waitpointId: 'a', waitpointKey: 'bc' }),
    )
  })

  test('is named in lists by its key id and sixteen hex digits that are no part of it', () => {
    const fingerprint = tokenFingerprint(token)
    expect(fingerprint).toMatch(/^[\da-f]{16}$/)
    expect(token).not.toContain(fingerprint)
    expect(tokenFingerprint(mintToken(key, { ...subject, waitpointKey: 'review' }))).not.toBe(fingerprint)
    expect(kidOf(token)).toBe('kid-a')
    expect(kidOf('nothing')).toBeNull()
  })
})
