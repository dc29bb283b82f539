// The concurrent requests of one key, and of one namespace. Writes are merged into sets, so many of them cost little,
// and reads of one execution or flow are short: a worker makes them for every run. Lists and counts may read thousands
// of rows on a connection of their own, so few run at a time. Waits and streams cost memory alone, and are counted
// separately.
import type { Route } from '../api/route.ts'
import { refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import type { Identity } from './identity.ts'
import { Turns, type TurnClient } from './turns.ts'

export interface ReadLimits {
  /** Concurrent lists and counts of one key; defaults to 2. */
  readonly perKey?: number
  /** Concurrent lists and counts of all keys in one namespace; defaults to twice as many. */
  readonly perNamespace?: number
}

type Release = () => void
const nothing: Release = () => {}

export class RequestLimits {
  readonly #readsOfKeys: Turns | null
  readonly #readsOfNamespaces: Turns | null
  readonly #calls = new Turns(limits.callsPerKey, 0)
  readonly #waits = new Turns(limits.waitsPerKey, 0)

  constructor(reads: ReadLimits | false = {}) {
    if (reads !== false) refuseUnknownFields('readsAtOnce', reads, ['perKey', 'perNamespace'])
    const perKey = reads === false ? 0 : checkCount('readsAtOnce.perKey', reads.perKey ?? 2)
    const perNamespace = reads === false ? 0 : checkCount('readsAtOnce.perNamespace', reads.perNamespace ?? perKey * 2)
    this.#readsOfKeys = reads === false ? null : new Turns(perKey, limits.callsPerKey)
    this.#readsOfNamespaces = reads === false ? null : new Turns(perNamespace, limits.callsPerKey)
  }

  /** For a wait or a stream, until it ends. */
  async beginWait({ keyId }: Identity): Promise<Release> {
    if (keyId === null) return nothing
    await this.#waits.take(`key ${keyId}`, 'waits and streams')
    return () => this.#waits.release(`key ${keyId}`)
  }

  /** For any other request, until it has its response. `namespace` is null for all of them. */
  async begin(route: Route, { keyId }: Identity, namespace: string | null, client: TurnClient): Promise<Release> {
    // Without keys, all requests have one caller.
    if (keyId === null) return nothing
    const key = `key ${keyId}`
    await this.#calls.take(key, 'requests')
    const releases: Release[] = [() => this.#calls.release(key)]
    const releaseAll = (): void => releases.forEach((release) => release())
    if (!readsMany(route)) return releaseAll
    try {
      // Always in this order, so that no two wait for each other.
      await this.#takeRead(this.#readsOfKeys, key, client, releases)
      if (namespace !== null) {
        await this.#takeRead(this.#readsOfNamespaces, `namespace ${namespace}`, client, releases)
      }
    } catch (error) {
      releaseAll()
      throw error
    }
    return releaseAll
  }

  async #takeRead(turns: Turns | null, who: string, client: TurnClient, releases: Release[]): Promise<void> {
    if (turns === null) return
    await turns.take(who, 'reads', client)
    releases.push(() => turns.release(who))
  }
}

/** A path without an id reads many rows. */
function readsMany({ method, path }: Route): boolean {
  return method === 'GET' && !path.includes('{')
}

function checkCount(field: string, count: unknown): number {
  if (Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 10_000) return count as number
  throw refusal('invalid_input', field, show(count), 'a whole number from 1 to 10000')
}
