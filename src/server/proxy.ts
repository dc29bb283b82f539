// The headers that a proxy in front of the server adds to a request, and when they are trusted.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'

/** How a request shows that a proxy forwarded it: by a header, or by HTTP/1.0. Null: it does not. */
export function proxyShownBy(headers: Headers, httpVersion: string | undefined): string | null {
  for (const name of ['forwarded', 'via']) if (headers.has(name)) return name
  for (const name of headers.keys()) if (name.startsWith('x-forwarded-') || name === 'x-real-ip') return name
  // nginx adds no header and uses 1.0 unless it is configured otherwise; browsers and clients use 1.1.
  return httpVersion === '1.0' ? 'HTTP/1.0' : null
}

/** The client behind trusted proxies, from `X-Forwarded-For`. The header of any other sender is ignored. */
export class TrustedProxies {
  readonly #addresses = new BlockList()
  readonly #isEmpty: boolean

  /** Addresses, or networks such as `10.0.0.0/8`. */
  constructor(networks: readonly string[] = []) {
    this.#isEmpty = networks.length === 0
    for (const network of networks) this.#trust(network)
  }

  /** Each proxy appends the address of its peer, so the last address that is not trusted is the client. */
  clientOf(peer: string, headers: Headers): string {
    if (this.#isEmpty || !this.#trusts(peer)) return peer
    const forwardedFor = headers.get('x-forwarded-for')
    if (forwardedFor === null) return peer
    let client = peer
    for (const hop of forwardedFor.split(',').toReversed()) {
      const address = addressIn(hop.trim())
      if (address === null) return client
      client = address
      if (!this.#trusts(address)) return client
    }
    return client
  }

  #trust(network: string): void {
    const [address = '', prefix] = network.split('/')
    const longest = isIPv4(address) ? 32 : 128
    const bits = prefix === undefined ? longest : Number(prefix)
    const isNetwork = isIP(address) !== 0 && (prefix === undefined || /^\d{1,3}$/.test(prefix)) && bits <= longest
    if (!isNetwork) throw refusal('invalid_input', 'trustProxy', show(network), 'an address, or one as in 10.0.0.0/8')
    this.#addresses.addSubnet(address, bits, familyOf(address))
  }

  #trusts(address: string): boolean {
    const bare = withoutMapping(address)
    return isIP(bare) !== 0 && this.#addresses.check(bare, familyOf(bare))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

/** A dual-stack socket shows IPv4 as `::ffff:10.0.0.1`. */
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}

/** Some proxies append the port. */
function addressIn(hop: string): string | null {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(hop) ?? []
  const bare = withoutMapping(bracketed ?? hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'))
  return isIP(bare) === 0 ? null : bare
}
