import { expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { migrateAll } from '../support/migrate-all.ts'
import { startPostgres } from '../support/postgres.ts'
import { expectAllEnded, startLoad } from './load.ts'

test('a database that crashes under load again and again loses nothing, and all processes continue by themselves', async () => {
  // An acknowledged commit is in the log before a crash of the server, though not of the machine.
  const server = await startPostgres({ version: 18, settings: { synchronous_commit: 'on' } })
  onTestFinished(() => server.stop())
  const sql = await openPostgres({ url: server.url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  await migrateAll(sql)
  const endings = await hearEndings(sql)
  const loads = ['a', 'b'].map((name) => startLoad(server.url, name))
  for (let crash = 1; crash <= 4; crash += 1) {
    await Promise.all(loads.map((load) => load.completedMore(40)))
    await server.restart()
  }
  await Promise.all(loads.map((load) => load.completedMore(40)))
  await Promise.all(loads.map((load) => load.finish()))
  const ended = await expectAllEnded(sql, loads)
  await expect.poll(() => endings.length).toBe(ended.size)
  expect(new Set(endings)).toEqual(ended)
})

/** The endings that a subscriber receives that was connected before the first crash. */
async function hearEndings(sql: Sql): Promise<readonly unknown[]> {
  const over = new AbortController()
  const subscription = await createEngine(sql).events.subscribe({ kinds: ['ended'], signal: over.signal })
  const received: unknown[] = []
  const listening = (async () => {
    for await (const event of subscription) if (event.kind === 'ended') received.push(event.executionId)
  })()
  onTestFinished(async () => {
    over.abort()
    await listening
  })
  return received
}
