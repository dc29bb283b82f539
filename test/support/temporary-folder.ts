import { mkdtemp, readFile, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Creates a folder, in memory if requested and if there is room. A database server has some two thousand files, and a
 * disk may take a millisecond for each (measured: 1.0 s to start in memory, 3.1 s on an ext4 where as many had just
 * been deleted).
 */
export async function makeFolder(start: string, options: { readonly inMemory: boolean }): Promise<string> {
  const parent = options.inMemory && (await isUsable(memory)) ? memory : diskFolder()
  return mkdtemp(path.join(parent, start))
}

const memory = '/dev/shm'

// The user that Postgres runs as may be unable to enter root's own temporary folder.
function diskFolder(): string {
  return process.getuid?.() === 0 ? '/tmp' : tmpdir()
}

async function isUsable(folder: string): Promise<boolean> {
  const space = await statfs(folder).catch(() => null)
  const isRoomy = space !== null && space.bavail * space.bsize > 2 ** 31
  return isRoomy && (await allowsPrograms(folder))
}

// Containers often forbid running programs from there.
async function allowsPrograms(folder: string): Promise<boolean> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const fields = mounts.split('\n').map((line) => line.split(' '))
  const options = fields.find(([, at]) => at === folder)?.[3]
  return options !== undefined && !options.split(',').includes('noexec')
}
