// Migrated embedded databases for tests. The first on a machine is created (measured: 3.6 s) and its files are kept in
// the cache of the project; the first of a process is loaded from there (0.7 s); later ones are emptied and reused
// (some ms).
import { codeVersion } from '../model/version.ts'
import { cacheFolder, readImage, saveImage } from '../sql/embedded-image.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations/all.ts'
import { openEmbedded, type EmbeddedSql } from '../sql/pglite.ts'
import { empty } from './empty.ts'

// Further databases are closed when they are returned: each uses some tens of megabytes.
const mostIdle = 2
// An open database may keep its process alive (Postgres has timers), so one that no further test uses is closed.
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

/** No call may be under way on it. */
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
  // If it cannot be saved, the next process creates it again.
  if (folder !== null) await saveImage(sql.pglite, migrations, folder).catch(() => {})
  return sql
}
