// Every statement of the engine, described by each database that we support. Each statement declares its parameters
// and columns once; here they are compared with the schema.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openPostgres } from '../src/sql/postgres.ts'
import { createDatabase } from './support/database.ts'
import { engineStatements } from './support/engine-statements.ts'
import { compare, embeddedDescriber, postgresDescriber } from './support/described-statement.ts'
import type { Describer } from './support/described-statement.ts'
import { openMigrated } from '../src/testing/database.ts'
import { migrateAll } from './support/migrate-all.ts'
import { startPostgres } from './support/postgres.ts'

const engine = new URL('../src/engine/', import.meta.url)
for (const file of await readdir(engine, { recursive: true })) {
  if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, engine)))
}

test('the engine has statements to describe', () => {
  expect(engineStatements().length).toBeGreaterThan(20)
})

test.each([
  ['the embedded database', describeEmbedded],
  ['Postgres 18', describePostgres18],
  ['Postgres 15', describePostgres15],
])('%s describes every statement as it is declared', async (_, open) => {
  const describer = await open()
  const differences: string[] = []
  for (const statement of engineStatements()) {
    const found = await describer.describe(statement.text).catch((error: unknown) => String(error))
    differences.push(...compare(statement, found).map((difference) => `${statement.name}: ${difference}`))
  }
  expect(differences).toEqual([])
})

async function describeEmbedded(): Promise<Describer> {
  const sql = await openMigrated()
  onTestFinished(() => sql.close())
  return embeddedDescriber(sql.pglite)
}

async function describePostgres18(): Promise<Describer> {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  onTestFinished(() => database.drop())
  return connect(database.url)
}

async function describePostgres15(): Promise<Describer> {
  const server = await startPostgres({ version: 15 })
  onTestFinished(() => server.stop())
  const sql = await openPostgres({ url: server.url, schema: 'flowfabric' })
  await migrateAll(sql)
  await sql.close()
  return connect(server.url)
}

async function connect(url: string): Promise<Describer> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  return postgresDescriber(client)
}
