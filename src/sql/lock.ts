// One process at a time may open an embedded directory: PGlite itself admits a second one, and then each loses the
// writes of the other. The lock is the file `lock.json`, which exists while its holder is alive.
//
// Taking the lock, also from a dead holder, is safe however many processes try at once:
//
//   1. publish a claim, `lock.json.<unique>`, which already has the content of the lock
//   2. list the claims; if another living one exists, withdraw and try again a little later
//   3. read the lock; if its holder is alive, withdraw and refuse
//   4. rename the claim to `lock.json`
//
// If two overlap, the later one to list sees the claim of the other; a process that lists after the rename sees the
// lock. A lock or claim is removed only by its owner or after its owner's death, and claims never share a name.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DatabaseError } from './errors.ts'
import { isVisible, mayBeAlive, thisProcess, type ProcessIdentity } from './process.ts'
import { giveSignOfLife, isAlive } from './sign-of-life.ts'

interface LockHolder extends ProcessIdentity {
  readonly id: string
  /** The socket that proves that the holder is alive; null where the system cannot provide one. */
  readonly socket: string | null
  readonly hostname: string
  /** The URL at which the holder serves, once it does. */
  readonly url: string | null
  readonly since: string
}

export interface DirectoryLock {
  setUrl(url: string | null): Promise<void>
  release(): Promise<void>
}

const lockFile = 'lock.json'
const longestTryMs = 10_000
const longestWriteMs = 5_000

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, lockFile)
  const id = randomUUID()
  // Before the first claim: a claim without a socket would be taken for dead.
  const sign = await giveSignOfLife(directory, id)
  const holder: LockHolder = {
    ...(await thisProcess()),
    id,
    socket: sign?.socket ?? null,
    hostname: hostname(),
    url: null,
    since: new Date().toISOString(),
  }
  try {
    await takeInTime(directory, holder)
  } catch (error) {
    await sign?.end()
    throw error
  }
  return {
    setUrl: (url) => replace(path, { ...holder, url }),
    async release() {
      await release(path, holder)
      await sign?.end()
    },
  }
}

/**
 * The URL at which the holder of a directory serves; null when it does not serve, or when it cannot be proved to be
 * alive on this machine: the file may have been copied.
 */
export async function urlOfHolder(directory: string): Promise<string | null> {
  const holder = await read(join(directory, lockFile))
  if (typeof holder?.url !== 'string') return null
  return (await isProvedAlive(directory, holder)) ? holder.url : null
}

/** Stricter than `mayHold`: false when in doubt. */
async function isProvedAlive(directory: string, holder: LockHolder): Promise<boolean> {
  const { boot } = await thisProcess()
  if (holder.boot !== boot) return false
  if (typeof holder.socket === 'string') return isAlive(directory, basename(holder.socket))
  return holder.hostname === hostname() && (await mayBeAlive(holder, new Date(holder.since)))
}

async function takeInTime(directory: string, holder: LockHolder): Promise<void> {
  const giveUpAt = Date.now() + longestTryMs
  while (!(await take(directory, holder))) {
    if (Date.now() > giveUpAt) throw contended(directory)
    await setTimeout(1 + Math.random() * 20)
  }
}

/** False: other processes are trying at this moment. */
async function take(directory: string, holder: LockHolder): Promise<boolean> {
  const path = join(directory, lockFile)
  const claim = `${path}.${randomUUID()}`
  await write(claim, holder)
  try {
    if (await hasOtherClaims(directory, claim)) return false
    const current = await read(path)
    if (current !== undefined && (await mayHold(directory, current))) throw locked(directory, current, holder)
    await rename(claim, path)
    await removeSocket(directory, current)
    return true
  } finally {
    await rm(claim, { force: true })
  }
}

async function hasOtherClaims(directory: string, own: string): Promise<boolean> {
  const names = await readdir(directory)
  const claims = names.filter((name) => name.startsWith(`${lockFile}.`)).map((name) => join(directory, name))
  let others = false
  for (const claim of claims) {
    if (claim === own) continue
    const claimant = await read(claim)
    const living = claimant === undefined ? await isBeingWritten(claim) : await mayHold(directory, claimant)
    if (living) {
      others = true
      continue
    }
    await rm(claim, { force: true })
    await removeSocket(directory, claimant)
  }
  return others
}

/** The socket of a dead holder: it remains when a process is killed. */
async function removeSocket(directory: string, dead: LockHolder | undefined): Promise<void> {
  if (typeof dead?.socket === 'string') await rm(join(directory, basename(dead.socket)), { force: true })
}

async function isBeingWritten(claim: string): Promise<boolean> {
  const found = await stat(claim).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs < longestWriteMs
}

// If both run on the same kernel, the socket decides. Otherwise processes of another host or namespace cannot be seen
// from here, and their lock is never taken for dead.
async function mayHold(directory: string, holder: LockHolder): Promise<boolean> {
  const { boot } = await thisProcess()
  if (boot !== null && boot === holder.boot && typeof holder.socket === 'string') {
    return isAlive(directory, basename(holder.socket))
  }
  return holder.hostname !== hostname() || (await mayBeAlive(holder, new Date(holder.since)))
}

async function release(path: string, holder: LockHolder): Promise<void> {
  const current = await read(path)
  if (current?.id === holder.id) await rm(path, { force: true })
}

async function replace(path: string, holder: LockHolder): Promise<void> {
  const current = await read(path)
  if (current?.id !== holder.id) return
  // Not named like a claim, because it is none.
  const next = join(path, '..', `.${lockFile}.${randomUUID()}`)
  await write(next, holder)
  await rename(next, path)
}

async function write(path: string, holder: LockHolder): Promise<void> {
  await writeFile(path, `${JSON.stringify(holder, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
}

/** Undefined: the file is missing or damaged. */
async function read(path: string): Promise<LockHolder | undefined> {
  try {
    const found = JSON.parse(await readFile(path, 'utf8')) as Partial<LockHolder> | null
    if (!isPid(found?.pid) || typeof found?.since !== 'string') return undefined
    return found as LockHolder
  } catch {
    return undefined
  }
}

function isPid(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function locked(directory: string, holder: LockHolder, own: LockHolder): DatabaseError {
  const where = placeOf(holder, own)
  const who = holder.pid === process.pid && where === '' ? 'this process' : `process ${holder.pid}${where}`
  const next =
    holder.url !== null
      ? `Connect to ${holder.url} instead, or stop that process.`
      : where === ''
        ? 'Stop that process, close its handle, or choose another directory.'
        : `Stop that process. If you are sure that it is gone, delete ${join(resolve(directory), lockFile)}.`
  return new DatabaseError(
    'directory_locked',
    `The directory ${resolve(directory)} has been in use by ${who} since ${holder.since}`,
    next,
  )
}

/** Empty for a process whose end can be seen from here. */
function placeOf(holder: LockHolder, own: LockHolder): string {
  if (holder.hostname !== own.hostname) return ` on host ${holder.hostname}`
  return isVisible(holder, own) ? '' : ' in another container (another pid namespace)'
}

function contended(directory: string): DatabaseError {
  return new DatabaseError(
    'directory_locked',
    `The directory ${resolve(directory)} is being opened by other processes`,
    'Try again.',
  )
}
