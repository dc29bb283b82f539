import { expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/sql/postgres.ts'
import { migrateAll } from '../support/migrate-all.ts'
import { startPostgres } from '../support/postgres.ts'
import { expectAllEnded, startLoad } from './load.ts'

test('a database that crashes under load again and again loses nothing, and everything goes on by itself', async () => {
  // A commit that was answered is in the log before a crash of the server, though not of the machine.
  const server = await startPostgres({ version: 18, settings: { synchronous_commit: 'on' } })
  onTestFinished(() => server.stop())
  const sql = await openPostgres({ url: server.url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  await migrateAll(sql)
  const loads = ['a', 'b'].map((name) => startLoad(server.url, name))
  for (let crash = 1; crash <= 4; crash += 1) {
    await Promise.all(loads.map((load) => load.completedMore(40)))
    await server.restart()
  }
  await Promise.all(loads.map((load) => load.completedMore(40)))
  await Promise.all(loads.map((load) => load.finish()))
  await expectAllEnded(sql, loads)
  expect(loads.every((load) => load.completed.size >= 200)).toBe(true)
}, 90_000)
