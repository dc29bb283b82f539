import { expect, test } from 'vitest'
import { Bell } from '../../../src/engine/kernel/bell.ts'

test('a wait that is longer than any timer does not end at once', async () => {
  const bell = new Bell()
  let isOver = false
  const waiting = bell.wait(undefined, 30 * 86_400_000).then(() => (isOver = true))
  await new Bell().wait(undefined, 20)
  expect(isOver).toBe(false)
  bell.ring()
  expect(await waiting).toBe(true)
})
