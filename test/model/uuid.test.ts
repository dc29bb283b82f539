import { validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { mintUuid } from '../../src/model/uuid.ts'

test('ids minted in a row are version 7, differ and ascend', () => {
  const ids = Array.from({ length: 20_000 }, mintUuid)
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  expect([...ids].sort()).toEqual(ids)
})

test('an id contains the time of its minting', () => {
  const before = Date.now()
  const milliseconds = Number.parseInt(mintUuid().replaceAll('-', '').slice(0, 12), 16)
  expect(milliseconds).toBeGreaterThanOrEqual(before - 1)
  expect(milliseconds).toBeLessThanOrEqual(Date.now() + 1)
})
