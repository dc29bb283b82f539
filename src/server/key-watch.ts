// Ends the streams and waits of a key that is no longer valid, and those without a key once requests need one. A
// request is authorized once, and a stream may stay open for days; so each key with open streams or waits is looked up
// again at every heartbeat, once for all of them.
import { EngineError } from '../model/errors.ts'
import { openIdentity, type Identity } from './identity.ts'

export interface Watched {
  /** Aborted when the key is revoked or has expired; without a key, when requests need one. */
  readonly signal: AbortSignal
  readonly release: () => void
}

interface OpenKey {
  readonly isAdmitted: () => Promise<boolean>
  readonly open: Set<AbortController>
}

const withoutKey = 'none'
const neverEnds: Watched = { signal: new AbortController().signal, release: () => {} }

export class KeyWatch {
  readonly #intervalMs: number
  readonly #keys = new Map<string, OpenKey>()
  #timer: NodeJS.Timeout | null = null

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** `isAdmitted` looks the key up again. */
  watch(identity: Identity, isAdmitted: () => Promise<boolean>): Watched {
    const keyId = identity === openIdentity ? withoutKey : identity.keyId
    if (keyId === null) return neverEnds
    const key = this.#keys.get(keyId) ?? { isAdmitted, open: new Set() }
    const ending = new AbortController()
    key.open.add(ending)
    this.#keys.set(keyId, key)
    this.#timer ??= setInterval(() => void this.#check(), this.#intervalMs).unref()
    return { signal: ending.signal, release: () => this.#release(keyId, ending) }
  }

  /** Called when this process has revoked the key: its streams and waits end at once. */
  end(keyId: string): void {
    for (const ending of this.#keys.get(keyId)?.open ?? []) ending.abort(endedBy(keyId))
    this.#keys.delete(keyId)
    this.#rest()
  }

  #release(keyId: string, ending: AbortController): void {
    const key = this.#keys.get(keyId)
    key?.open.delete(ending)
    if (key?.open.size === 0) this.#keys.delete(keyId)
    this.#rest()
  }

  async #check(): Promise<void> {
    const keys = [...this.#keys]
    const admitted = await Promise.all(
      // While the database is unreachable nothing is known, and nothing ends.
      keys.map(([, { isAdmitted }]) => isAdmitted().catch(() => true)),
    )
    for (const [place, [keyId]] of keys.entries()) if (!admitted[place]) this.end(keyId)
  }

  #rest(): void {
    if (this.#keys.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}

function endedBy(keyId: string): EngineError {
  const sentence =
    keyId === withoutKey
      ? 'an API key exists now, so requests need one; send it as `Authorization: Bearer <key>`'
      : 'the API key was revoked or has expired meanwhile; ask for another'
  return new EngineError('unauthenticated', sentence)
}
