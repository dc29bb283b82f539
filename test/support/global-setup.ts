// One Postgres for all projects of a run, and none when no file of the run needs it. Vitest calls this once for each
// project that needs it, one after the other.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { grantsOn } from '../../src/sql/grants.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { createDatabase, dropDatabases, runOn } from './database.ts'
import { migrateAll } from './migrate-all.ts'
import { startPostgres } from './postgres.ts'
import type { PostgresVersion } from './postgres.ts'
import type { ProvidedPostgres } from './provided.ts'
import { refuseSeeds } from './shape.ts'

export default async function globalSetup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const root = project.vitest.getRootProject()
  if ('postgres' in root.getProvidedContext()) return undefined

  const server = await startPostgres(chosenVersion())
  // TEST_DATABASE_URL may name a server that other runs use too, hence the random name.
  const template = await createDatabase(server.url, `flowfabric_test_${randomBytes(4).toString('hex')}`)
  const application = `${template.name}_application`
  await fillTemplate(template.url, application)
  const provided: ProvidedPostgres = { url: server.url, template: template.name, application }
  root.provide('postgres', provided)
  return async () => {
    await dropDatabases(server.url, template.name)
    await runOn(server.url, `drop role ${application}`)
    await server.stop()
  }
}

function chosenVersion(): { version?: PostgresVersion } {
  const wanted = process.env['TEST_POSTGRES_VERSION']
  if (wanted === undefined) return {}
  if (wanted === '15') return { version: 15 }
  if (wanted === '18') return { version: 18 }
  throw new Error(`TEST_POSTGRES_VERSION is ${wanted}; there are binaries for 15 and 18`)
}

async function fillTemplate(url: string, application: string): Promise<void> {
  await runOn(url, `create role ${application} login password '${application}'`)
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  await migrateAll(sql)
  await sql.script(grantsOn('flowfabric', application))
  await sql.close()
  const client = new pg.Client(url)
  await client.connect()
  await refuseSeeds(client)
  await client.end()
}
