import { expect, onTestFinished, test } from 'vitest'
import { openMigrated } from '../../src/testing/database.ts'
import { compare, embeddedDescriber } from './described-statement.ts'
import * as stored from './stored.ts'
import { Table } from './table.ts'

test('the columns of every kind of stored row are those of its table', async () => {
  const sql = await openMigrated()
  onTestFinished(() => sql.close())
  const describer = await embeddedDescriber(sql.pglite)
  const tables = Object.values(stored).filter((value) => value instanceof Table)
  expect(tables.length).toBeGreaterThan(20)
  const differences: string[] = []
  for (const { name, qualified, columns } of tables) {
    const text = `select * from ${qualified}`
    const found = await describer.describe(text)
    differences.push(...compare({ name, params: {}, row: columns, text }, found).map((line) => `${name}: ${line}`))
  }
  expect(differences).toEqual([])
})
