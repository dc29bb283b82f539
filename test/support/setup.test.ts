import { expect, inject, test } from 'vitest'
import { setup } from './setup.ts'

test('each test starts with an empty database: the first fills it', async () => {
  const { engine, clock } = await setup()
  await engine.executions.create({ kind: 'anything' })
  await clock.advance('1h')
  expect((await engine.executions.list()).executions).toHaveLength(1)
})

test('each test starts with an empty database: the second finds nothing of it', async () => {
  const { engine, clock } = await setup()
  expect((await engine.executions.list()).executions).toEqual([])
  expect(Math.abs((await clock.now()) - Date.now())).toBeLessThan(10_000)
})

test('two databases of one test are apart', async () => {
  const [a, b] = [await setup(), await setup()]
  await a.engine.executions.create({ kind: 'anything' })
  expect((await b.engine.executions.list()).executions).toEqual([])
})

test('the database is of the kind that the project names', async () => {
  const { sql } = await setup()
  expect(sql.kind).toBe(inject('backend'))
})
