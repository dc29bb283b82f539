// The computation for a token: a sender must not learn from the time whether a waitpoint exists.
import { createHmac, createSecretKey, type Hmac } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkToken, mintToken } from '../../src/model/token.ts'

const key = { kid: 'k1', secret: createSecretKey(Buffer.alloc(32, 1)), expiresAt: null }
const subject = {
  executionId: '{fp:77}:0190a000-0000-7000-8000-000000000000',
  waitpointId: '{fp:77}:0190a000-0000-7000-8000-000000000001',
  waitpointKey: 'approval',
  createdAt: 1_767_225_600_000,
}

test('a missing waitpoint costs one MAC over as many blocks as a wrong token', () => {
  const token = mintToken(key, subject)
  const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  const update = vi.spyOn(Object.getPrototypeOf(createHmac('sha256', '')) as Hmac, 'update')
  onTestFinished(() => update.mockRestore())
  /** Of each MAC; the padding is nine bytes at least. */
  const blocksOf = (check: () => void): number[] => {
    update.mockClear()
    expect(check).toThrow('not valid')
    return update.mock.calls.map(([data]) => Math.ceil((Buffer.byteLength(data) + 9) / 64))
  }
  const forWrong = blocksOf(() => checkToken(wrong, subject, [key], 0))
  expect(forWrong).toHaveLength(1)
  for (const given of [token, wrong, 'no token']) {
    expect(blocksOf(() => checkToken(given, null, [], 0))).toEqual(forWrong)
  }
})
