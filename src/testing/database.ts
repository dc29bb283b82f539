// Migrated embedded databases for tests. The first of a machine is made (measured: 3.6 s) and its files are kept in the cache of
// the project; the first of a process is loaded from there (0.7 s); those after it are emptied and used again (some ms).
import { createHash, randomUUID } from 'node:crypto'
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { codeVersion } from '../model/version.ts'
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
  const file = await snapshotFile()
  const saved = file === null ? null : await readFile(file).catch(() => null)
  const extra = saved === null ? {} : { loadDataDir: new Blob([saved]) }
  const sql = await openEmbedded({ directory: null, schema: 'flowfabric', extra })
  if (saved !== null) return sql
  await migrate(sql, migrations, { mode: true, codeVersion })
  // Where it cannot be kept, the next process waits once more.
  if (file !== null) await save(await sql.pglite.dumpDataDir('none'), file).catch(() => {})
  return sql
}

/** Under a name that changes with the schema and with PGlite, so that it can never be an old one. */
async function snapshotFile(): Promise<string | null> {
  const modules = join(process.cwd(), 'node_modules')
  const isThere = await access(modules).then(
    () => true,
    () => false,
  )
  if (!isThere) return null
  const pglite = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const described = await readFile(join(pglite, '../../package.json'), 'utf8')
  const madeOf = createHash('sha256').update(JSON.stringify([described, migrations]))
  return join(modules, '.cache', 'flowfabric', `embedded-${madeOf.digest('hex').slice(0, 16)}.tar`)
}

async function save(snapshot: Blob, file: string): Promise<void> {
  const folder = join(file, '..')
  await mkdir(folder, { recursive: true })
  const outdated = (await readdir(folder)).filter((name) => name.endsWith('.tar') && join(folder, name) !== file)
  for (const name of outdated) await rm(join(folder, name), { force: true })
  // Two processes may save at once, and a third must not read half of it.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, Buffer.from(await snapshot.arrayBuffer()))
  await rename(draft, file)
}
