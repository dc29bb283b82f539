import { fileURLToPath } from 'node:url'
import { EngineError } from '../model/errors.ts'
import { show } from '../model/text.ts'
import { withoutPassword } from '../sql/without-password.ts'

export type ConnectTarget =
  | { readonly kind: 'postgres'; readonly url: string }
  /** A null directory is a database in memory. */
  | { readonly kind: 'embedded'; readonly directory: string | null }
  | { readonly kind: 'server'; readonly url: string }

const forms = 'postgres://user:password@host/database, file:./directory, memory: or https://host'

export function parseUrl(url: unknown): ConnectTarget {
  if (typeof url !== 'string') throw refuse(url, `give a text such as ${forms}`)
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase()
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return { kind: 'postgres', url }
    case 'memory':
      if (url.length > 'memory:'.length) throw refuse(url, 'memory: takes nothing after it')
      return { kind: 'embedded', directory: null }
    case 'file':
      return { kind: 'embedded', directory: directoryOf(url) }
    case 'http':
    case 'https':
      return { kind: 'server', url }
    default:
      throw refuse(url, `give one of ${forms}`)
  }
}

/** For messages: without the password. */
export function shownUrl(url: string): string {
  return withoutPassword(url)
}

// `file:./here` and `file:here` are relative to the working directory, as in a shell; `file:///there` is a URL.
function directoryOf(url: string): string {
  const path = url.startsWith('file://') ? fromFileUrl(url) : url.slice('file:'.length)
  if (path !== '' && !path.includes('\0')) return path
  throw refuse(url, 'name a directory, as in file:./.flowfabric')
}

function fromFileUrl(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    throw refuse(url, 'write file:./directory, or file:///absolute/directory')
  }
}

// A URL with an unknown scheme may contain a password too.
function refuse(url: unknown, next: string): EngineError {
  const found = show(typeof url === 'string' ? withoutPassword(url) : url)
  return new EngineError('invalid_url', `the URL is ${found}; ${next}`, { found })
}
