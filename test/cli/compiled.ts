// The project, compiled once for all files, projects and runs that test the same sources: the folder's name is a hash of them.
import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { patience } from '../support/patience.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
// Inside the project, so that Node finds its packages.
const home = join(root, 'node_modules/.flowfabric-compiled')
const keptMs = 24 * 3_600_000

/** The folder that corresponds to `dist`. */
export async function compiled(): Promise<string> {
  const folder = join(home, await hashOfSources())
  const lock = `${folder}.lock`
  await mkdir(home, { recursive: true })
  while (!(await isThere(folder))) {
    if (await take(lock)) await compile(folder, lock)
    else await setTimeout(100)
  }
  const now = new Date()
  await utimes(folder, now, now)
  return folder
}

/** False when another process has it. The lock of a process that was killed is removed. */
async function take(lock: string): Promise<boolean> {
  const isOurs = await mkdir(lock).then(
    () => true,
    () => false,
  )
  if (isOurs) return true
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }))
  if (Date.now() - mtimeMs > patience(120_000)) await rm(lock, { recursive: true, force: true })
  return false
}

async function compile(folder: string, lock: string): Promise<void> {
  try {
    if (await isThere(folder)) return
    await removeOld()
    const made = `${folder}.${randomUUID()}`
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const argv = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', made]
    await promisify(execFile)(process.execPath, argv, { cwd: root })
    await rename(made, folder)
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > keptMs) await rm(path, { recursive: true, force: true })
  }
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256')
  const listed = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true })
  const sources = listed.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
  for (const path of [...sources.toSorted(), ...settings.map((name) => join(root, name))]) {
    hash
      .update(`${path}\0`)
      .update(await readFile(path))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 32)
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
