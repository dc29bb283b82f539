// The server of an embedded directory that another process has open: its URL, from the lock of the directory, and the
// key in the folder, for processes that may read it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isLoopback } from '../model/loopback.ts'
import { urlOfHolder } from '../sql/lock.ts'

export interface LocalServer {
  readonly url: string
  readonly token?: string
}

export function localKeyPath(directory: string): string {
  return join(directory, 'local-key')
}

/**
 * Null: the holder does not serve on this machine. The key is sent nowhere else: the lock may have come with a copied
 * folder.
 */
export async function localServer(directory: string): Promise<LocalServer | null> {
  const url = await urlOfHolder(directory)
  if (url === null || !isHere(url)) return null
  const token = (await readFile(localKeyPath(directory), 'utf8').catch(() => '')).trim()
  return token === '' ? { url } : { url, token }
}

function isHere(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'http:' && isLoopback(new URL(url).hostname)
}
