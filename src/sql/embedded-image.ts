// The files of a new embedded database with the schema in it. Without them PGlite runs initdb, which takes seconds and most of a
// gigabyte (measured, hello-world on Node 20: 6.7 s of processor and 890 MB, against 3.1 s and 330 MB with an image). The package has
// an image beside this file. A checkout has none: there the test kit leaves one in node_modules/.cache, and until then initdb runs.
import { createHash, randomUUID } from 'node:crypto'
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import type { PGlite } from '@electric-sql/pglite'
import type { Migration } from './migrations/migration.ts'
import { archiveOf, entriesOf } from './tar.ts'

/** The folder of the image in the package. */
const shipped = fileURLToPath(new URL('./', import.meta.url))

/** An archive of the files; null when no image fits this schema and this PGlite. */
export async function readImage(migrations: readonly Migration[]): Promise<Buffer | null> {
  const name = await imageName(migrations)
  const cache = await cacheFolder()
  for (const folder of cache === null ? [shipped] : [shipped, cache]) {
    const image = await readIn(join(folder, name))
    if (image !== null) return image
  }
  return null
}

/** Saves the files of a database for `readImage`. The database must contain only its schema. */
export async function saveImage(pglite: PGlite, migrations: readonly Migration[], folder: string): Promise<string> {
  const tar = await withoutLog(pglite)
  const file = join(folder, await imageName(migrations))
  await mkdir(folder, { recursive: true })
  const outdated = (await readdir(folder)).filter((name) => /^embedded-.*\.tar(\.br)?$/.test(name))
  for (const name of outdated) await rm(join(folder, name), { force: true })
  // Two processes may save at once, and a third must not read a half-written file.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, await compress(tar))
  await rename(draft, file)
  return file
}

/** The cache folder of the project that this process runs in; null if it has no packages. */
export async function cacheFolder(): Promise<string | null> {
  const modules = join(process.cwd(), 'node_modules')
  return access(modules).then(
    () => join(modules, '.cache', 'flowfabric'),
    () => null,
  )
}

/** The name changes with the schema and with PGlite, so an old image is never found. package.json names one version of PGlite, not a
 * range: with another one the image of the package would not fit. */
async function imageName(migrations: readonly Migration[]): Promise<string> {
  const pglite = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(await readFile(join(pglite, '../../package.json'), 'utf8')) as { version: string }
  const madeOf = createHash('sha256').update(JSON.stringify([version, migrations]))
  return `embedded-${madeOf.digest('hex').slice(0, 16)}.tar.br`
}

async function readIn(file: string): Promise<Buffer | null> {
  try {
    return await promisify(brotliDecompress)(await readFile(file))
  } catch {
    // The image is missing or damaged: the database can be created without it.
    return null
  }
}

// Most of the archive is the write-ahead log of the files' creation. After a checkpoint in a new segment, nothing
// before it is read again.
async function withoutLog(pglite: PGlite): Promise<Buffer> {
  await pglite.exec('vacuum freeze')
  await pglite.exec('select pg_switch_wal()')
  await pglite.exec('checkpoint')
  const redo = 'select pg_walfile_name(redo_lsn) as segment from pg_control_checkpoint()'
  const { rows } = await pglite.query<{ segment: string }>(redo)
  const needed = `pg_wal/${rows[0]?.segment}`
  const tar = Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer())
  const isNeeded = (path: string): boolean =>
    path !== 'postmaster.pid' && (!/^pg_wal\/[\dA-F]{24}$/.test(path) || path === needed)
  return archiveOf(entriesOf(tar).filter(({ path }) => isNeeded(path)))
}

// Three databases begin as copies of each other, so a window that spans them takes two thirds off what gzip leaves (measured: 3.1 MB
// and 0.8 MB). A higher quality saves 3 per cent in three times the time.
function compress(tar: Buffer): Promise<Buffer> {
  return promisify(brotliCompress)(tar, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: tar.length,
    },
  })
}
