// The server of an embedded directory that another process has open: where it is, by the directory's lock, and the key that
// lies in the folder for whoever may read it.
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

/** Null: its holder does not serve on this machine. The key is sent nowhere else: a lock may have come with a copied folder. */
export async function localServer(directory: string): Promise<LocalServer | null> {
  const url = await urlOfHolder(directory)
  if (url === null || !isHere(url)) return null
  const token = (await readFile(localKeyPath(directory), 'utf8').catch(() => '')).trim()
  return token === '' ? { url } : { url, token }
}

function isHere(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'http:' && isLoopback(new URL(url).hostname)
}
