// An engine for a process that may be killed: from then on no call is sent, and no reply arrives.
import type { Engine } from '../engine/contract.ts'

export class SeveredEngine {
  readonly engine: Engine
  #isSevered = false
  readonly #calls = new Set<Promise<unknown>>()

  constructor(engine: Engine) {
    const nouns = Object.entries(engine).map(([name, noun]: [string, unknown]) => [
      name,
      typeof noun === 'object' && noun !== null ? this.#verbsOf(noun) : noun,
    ])
    this.engine = Object.fromEntries(nouns)
  }

  /** How many calls are under way. */
  get callCount(): number {
    return this.#calls.size
  }

  sever(): void {
    this.#isSevered = true
  }

  /** Waits for calls that were sent before: they may still be written. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#calls)
  }

  #verbsOf(noun: object): object {
    const verbs = Object.entries(noun).map(([name, verb]: [string, (...given: unknown[]) => unknown]) => [
      name,
      (...given: unknown[]) => this.#call(() => verb(...given)),
    ])
    return Object.fromEntries(verbs) as object
  }

  async #call(send: () => unknown): Promise<unknown> {
    if (this.#isSevered) return never
    const sent = Promise.resolve(send())
    this.#calls.add(sent)
    try {
      const answer = await sent
      return this.#isSevered ? await never : answer
    } catch (error) {
      if (this.#isSevered) await never
      throw error
    } finally {
      this.#calls.delete(sent)
    }
  }
}

const never = new Promise<never>(() => {})
