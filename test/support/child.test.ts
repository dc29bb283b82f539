import { expect, test } from 'vitest'
import { startChild } from './child.ts'

const echo = new URL('./echo.child.ts', import.meta.url)

test('a child runs TypeScript, receives messages and answers in order', async () => {
  const child = startChild(echo, { args: ['one'], env: { SECOND: 'two' } })
  expect(await child.next()).toEqual({ args: ['one'], second: 'two' })
  child.send({ say: 'a' })
  child.send({ say: 'b' })
  expect([await child.next(), await child.next()]).toEqual([{ said: 'a' }, { said: 'b' }])
})

test('a killed child reports the signal that ended it', async () => {
  const child = startChild(echo)
  await child.next()
  await child.kill()
  expect(await child.ended).toBe('SIGKILL')
})

test('a child that fails reports the error', async () => {
  const child = startChild(echo)
  await child.next()
  child.send({ fail: 'out of paper' })
  await expect(child.next()).rejects.toThrow(/the child ended \(1\)[^]*out of paper/)
})
