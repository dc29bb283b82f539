import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { patience } from '../../support/patience.ts'

test("EXEC-38 the server's time is the database's clock in milliseconds", async () => {
  const { engine, clock } = await setup()
  expect(Math.abs((await engine.serverTime()) - Date.now())).toBeLessThan(patience(60_000))
  await clock.freeze()
  const before = await engine.serverTime()
  await clock.advance('5m')
  expect(await engine.serverTime()).toBe(before + 300_000)
})
