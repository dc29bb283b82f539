// Reads the archives that PGlite writes (ustar, no long names): enough to remove files from one, and to unpack it.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface TarEntry {
  readonly path: string
  readonly isDirectory: boolean
  readonly content: Buffer
  /** Header and content, as they are in the archive. */
  readonly block: Buffer
}

const unit = 512

export function entriesOf(tar: Buffer): TarEntry[] {
  const entries: TarEntry[] = []
  let start = 0
  while (start + unit <= tar.length && tar[start] !== 0) {
    const header = tar.subarray(start, start + unit)
    const size = Number.parseInt(textAt(header, 124, 12), 8)
    const end = start + unit + Math.ceil(size / unit) * unit
    if (textAt(header, 257, 5) !== 'ustar' || !(end <= tar.length)) break
    entries.push({
      path: textAt(header, 0, 100).replace(/^\/+/, ''),
      isDirectory: textAt(header, 156, 1) === '5',
      content: tar.subarray(start + unit, start + unit + size),
      block: tar.subarray(start, end),
    })
    start = end
  }
  // An archive ends in two empty blocks; a truncated one does not.
  const isWhole = tar.length - start >= 2 * unit && tar.subarray(start).every((byte) => byte === 0)
  if (entries.length === 0 || !isWhole) throw new Error('the archive of the embedded database is damaged')
  return entries
}

export function archiveOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(({ block }) => block), Buffer.alloc(2 * unit)])
}

export async function unpack(tar: Buffer, folder: string): Promise<void> {
  const entries = entriesOf(tar)
  for (const { path, isDirectory } of entries) {
    if (path.split('/').includes('..')) throw new Error(`the archive of the embedded database names '${path}'`)
    if (isDirectory) await mkdir(join(folder, path), { recursive: true, mode: 0o700 })
  }
  const files = entries.filter(({ isDirectory }) => !isDirectory)
  const together = 32
  for (let first = 0; first < files.length; first += together) {
    const some = files.slice(first, first + together)
    await Promise.all(some.map(({ path, content }) => writeFile(join(folder, path), content, { mode: 0o600 })))
  }
}

function textAt(header: Buffer, start: number, length: number): string {
  const text = header.toString('latin1', start, start + length)
  const end = text.indexOf('\0')
  return end === -1 ? text : text.slice(0, end)
}
