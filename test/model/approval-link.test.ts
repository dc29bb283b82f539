import { createSecretKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkPerson, claimedByLink, signLink, verifyLink } from '../../src/model/approval-link.ts'
import type { ApprovalLink } from '../../src/model/approval-link.ts'
import { frame } from '../../src/model/frame.ts'
import { sign } from '../../src/model/signing-key.ts'
import type { SigningKey } from '../../src/model/signing-key.ts'
import { refused } from './refused.ts'

const key: SigningKey = { kid: 'kid-a', secret: createSecretKey(Buffer.alloc(32, 7)), expiresAt: null }
const link: ApprovalLink = {
  waitpointId: '{fp:7}:018f0000-0000-7000-8000-00000000000a',
  actions: ['approve'],
  expiresAt: 2000,
  nonce: 'by chance',
  person: '',
}
const text = signLink(key, link)

describe('an approval link', () => {
  test('returns the fields that were signed, and fits into a URL unchanged', () => {
    expect(verifyLink(text, [key], 1000)).toEqual(link)
    expect(text).toMatch(/^[\w-]+$/)
    expect(text.length).toBeLessThan(200)
  })

  test('may be opened to its last millisecond', () => {
    expect(verifyLink(text, [key], 2000)).toEqual(link)
    expect(verifyLink(text, [key], 2001)).toBeNull()
  })

  test('lasts no longer than its key', () => {
    expect(verifyLink(text, [{ ...key, expiresAt: 1500 }], 1500)).toEqual(link)
    expect(verifyLink(text, [{ ...key, expiresAt: 1500 }], 1501)).toBeNull()
    expect(verifyLink(text, [{ ...key, kid: 'kid-b' }], 1000)).toBeNull()
    expect(verifyLink(text, [{ ...key, secret: createSecretKey(Buffer.alloc(32, 8)) }], 1000)).toBeNull()
  })

  test('that was changed or cut in any one place is refused', () => {
    for (const [place, letter] of text.split('').entries()) {
      const changed = text.slice(0, place) + (letter === 'A' ? 'B' : 'A') + text.slice(place + 1)
      expect(verifyLink(changed, [key], 1000)).toBeNull()
      expect(verifyLink(text.slice(0, place), [key], 1000)).toBeNull()
      expect(verifyLink(text.slice(0, place) + text.slice(place + 1), [key], 1000)).toBeNull()
    }
  })

  test('has one spelling: bytes that are no UTF-8 are not accepted for the character that they are read as', () => {
    const strange = signLink(key, { ...link, actions: ['\ufffd'] })
    expect(verifyLink(strange, [key], 1000)).toMatchObject({ actions: ['\ufffd'] })
    const spelt = Buffer.from([0, 0, 0, 3, 0xef, 0xbf, 0xbd])
    const bytes = Buffer.from(strange, 'base64url')
    const at = bytes.indexOf(spelt)
    const again = Buffer.concat([bytes.subarray(0, at), Buffer.from([0, 0, 0, 1, 0xff]), bytes.subarray(at + 7)])
    expect(verifyLink(again.toString('base64url'), [key], 1000)).toBeNull()
  })

  test('cannot be made from a token: a signature for one purpose is not valid for another', () => {
    const fields = ['kid-a', link.waitpointId, ...link.actions, `${link.expiresAt}`, link.nonce, link.person]
    const bytes = Buffer.concat([frame(fields), sign(key.secret, 'flowfabric waitpoint token v1', fields)])
    expect(verifyLink(bytes.toString('base64url'), [key], 1000)).toBeNull()
  })

  test('with too few or too many fields is refused, though signed by the right key', () => {
    const four = ['kid-a', 'w', 'approve', '2000']
    for (const fields of [[], ['kid-a'], four, [...four, 'n'], [...four, 'n', 'ada', 'other', 'more']]) {
      const bytes = Buffer.concat([frame(fields), sign(key.secret, 'flowfabric approval link v2', fields)])
      expect(verifyLink(bytes.toString('base64url'), [key], 1000)).toBeNull()
    }
  })

  test.each([
    undefined,
    null,
    7,
    {},
    '',
    '%',
    `${text}=`,
    ` ${text}`,
    'A'.repeat(43),
    'A'.repeat(100),
    'A'.repeat(5000),
  ])('is never %j', (value) => {
    expect(verifyLink(value, [key], 1000)).toBeNull()
  })

  test('carries the person whom it was issued for', () => {
    const text = signLink(key, { ...link, person: 'Ada' })
    expect(verifyLink(text, [key], 1000)).toMatchObject({ person: 'Ada', actions: ['approve'] })
    expect(claimedByLink(text)?.person).toBe('Ada')
  })

  test.each([
    [' Ada  ', 'Ada'],
    ['Ａｄａ', 'Ada'],
  ])('is issued for %j as %j', (given, person) => {
    expect(checkPerson(given)).toBe(person)
  })

  test.each(['', '  ', '\u200b', 'a\nb', 'x'.repeat(129), 7, null])(
    'cannot be issued for a person called %j',
    (name) => {
      refused('invalid_input', () => checkPerson(name))
    },
  )

  test('may be for an answer or its opposite', () => {
    const text = signLink(key, { ...link, actions: ['approve', 'refuse'] })
    expect(verifyLink(text, [key], 1000)).toMatchObject({ actions: ['approve', 'refuse'] })
    expect(claimedByLink(text)?.actions).toEqual(['approve', 'refuse'])
  })

  test.each(['', 'x'.repeat(65), 'a\nb'])('is not signed for the action %j', (action) => {
    refused('invalid_input', () => signLink(key, { ...link, actions: [action] }))
  })
})
