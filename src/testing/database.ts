// Migrated embedded databases for tests. The first of a machine is made (measured: 3.6 s) and its files are kept in the cache of
// the project; the first of a process is loaded from there (0.7 s); those after it are emptied and used again (some ms).
import { codeVersion } from '../model/version.ts'
import { cacheFolder, readImage, saveImage } from '../sql/embedded-image.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations/all.ts'
import { openEmbedded, type EmbeddedSql } from '../sql/pglite.ts'
import { empty } from './empty.ts'

// More at a time are closed when they are given back: each holds some tens of megabytes.
const mostIdle = 2
// An open database may keep its process from ending (Postgres has timers), so one that no further test asks for is closed.
const longestIdleMs = 1000
const idle = new Map<EmbeddedSql, NodeJS.Timeout>()

export async function takeDatabase(): Promise<EmbeddedSql> {
  for (const [sql, timer] of idle) {
    clearTimeout(timer)
    idle.delete(sql)
    return sql
  }
  return openMigrated()
}

/** Nothing must be under way on it. */
export async function giveDatabaseBack(sql: EmbeddedSql): Promise<void> {
  if (sql.pglite.closed) return
  if (idle.size >= mostIdle) return sql.close()
  await empty(sql.pglite)
  const close = (): void => {
    idle.delete(sql)
    void sql.close()
  }
  idle.set(sql, setTimeout(close, longestIdleMs))
}

/** A new one, in memory. */
export async function openMigrated(): Promise<EmbeddedSql> {
  let isMigrated = false
  const image = async (): Promise<Buffer | null> => {
    const found = await readImage(migrations)
    isMigrated = found !== null
    return found
  }
  const sql = await openEmbedded({ directory: null, schema: 'flowfabric', image })
  if (isMigrated) return sql
  await migrate(sql, migrations, { mode: true, codeVersion })
  const folder = await cacheFolder()
  // Where it cannot be kept, the next process waits once more.
  if (folder !== null) await saveImage(sql.pglite, migrations, folder).catch(() => {})
  return sql
}
