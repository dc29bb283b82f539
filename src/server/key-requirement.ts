// Whether requests need an API key. A server on loopback needs none until the first key exists; from then on it does,
// until it stops. A key that this process creates counts at once, a key of another process within ten seconds. An
// expired key counts too: its expiry must not open the server.
import { madeKeyCount } from '../engine/api-key/made.ts'
import type { Engine } from '../engine/contract.ts'

const checkEveryMs = 10_000

export class KeyRequirement {
  readonly #engine: Engine
  readonly #now: () => number
  #isRequired: boolean
  #checkedAt = -Infinity
  #madeKeyCount = -1
  #checking: Promise<void> | null = null

  constructor(engine: Engine, isRequired: boolean, now: () => number = () => performance.now()) {
    this.#engine = engine
    this.#isRequired = isRequired
    this.#now = now
  }

  /** As of the last check. */
  get isRequired(): boolean {
    return this.#isRequired
  }

  async check(): Promise<boolean> {
    if (this.#isRequired) return true
    const wanted = madeKeyCount()
    if (!this.#isRecent()) await this.#join()
    // The check under way may have begun before the last key was created.
    if (!this.#isRequired && this.#madeKeyCount < wanted) await this.#join()
    return this.#isRequired
  }

  #isRecent(): boolean {
    return this.#now() - this.#checkedAt < checkEveryMs && this.#madeKeyCount === madeKeyCount()
  }

  #join(): Promise<void> {
    return (this.#checking ??= this.#check().finally(() => (this.#checking = null)))
  }

  async #check(): Promise<void> {
    const [now, made] = [this.#now(), madeKeyCount()]
    const hasKey = await hasLiveKey(this.#engine)
    this.#isRequired ||= hasKey
    this.#checkedAt = now
    this.#madeKeyCount = made
  }
}

async function hasLiveKey(engine: Engine): Promise<boolean> {
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await engine.apiKeys.list({ limit: 1000, ...(cursor !== undefined && { cursor }) })
    if (page.apiKeys.some((key) => key.revokedAt === null)) return true
    cursor = page.nextCursor
  }
  return false
}
