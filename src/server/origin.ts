// Every page that a browser on the same machine opens can reach a server on loopback. So such a server accepts its own
// host names only, and refuses requests of pages of other origins, except those that were configured.
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'

export const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'] as const

/** `hosts` without ports; null: any host, from any page. */
export function refuseOtherHosts(hosts: readonly string[] | null, origins: readonly string[], headers: Headers): void {
  if (hosts === null) return
  const host = (headers.get('host') ?? '').toLowerCase()
  const name = host.replace(/:\d+$/, '')
  if (!hosts.includes(name)) {
    const sentence = `this server answers to ${hosts.join(', ')}, and was called '${name.slice(0, 100)}'; call it by one of those, or name this one in the option hosts`
    throw new EngineError('forbidden', sentence, { host: name, hosts })
  }
  const origin = headers.get('origin')
  if (origin === null || isSameOrigin(origin, host) || origins.includes(origin) || origins.includes('*')) return
  const sentence = `this server takes nothing from pages of another origin, such as '${origin.slice(0, 100)}'; name that in the option cors`
  throw new EngineError('forbidden', sentence, { origin })
}

export function isSameOrigin(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

export function checkOrigins(origins: readonly string[]): readonly string[] {
  for (const origin of origins) {
    if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue
    const sentence = `cors has '${origin}', which is no origin; give a scheme and a host, such as https://example.com`
    throw new EngineError('invalid_input', sentence, { field: 'cors' })
  }
  return origins
}

/** The public URL of the server: `https://flowfabric.example.com`, without a slash at its end. */
export function checkPublicUrl(given: unknown): URL {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : null
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username + url.search + url.hash === ''
  if (isPlain) return new URL(url.href.replace(/\/+$/, ''))
  throw refusal('invalid_input', 'publicUrl', show(given), 'a URL such as https://flowfabric.example.com')
}
