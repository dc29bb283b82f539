// The same engine, with every id in its arguments cut to the bare uuid.
import type { Engine } from '../../src/engine/contract.ts'

export interface BareEngine {
  readonly engine: Engine
  /** The operations that were called with an id, as `noun.verb`. */
  readonly called: ReadonlySet<string>
}

export function bareEngine(engine: Engine): BareEngine {
  const called = new Set<string>()
  const nouns = Object.entries(engine).map(([noun, verbs]) => {
    if (typeof verbs === 'function') return [noun, verbs]
    const bare = Object.entries(verbs as Record<string, (...given: unknown[]) => unknown>).map(([verb, perform]) => [
      verb,
      (...given: unknown[]) => {
        const cut = bareIn(given) as unknown[]
        if (JSON.stringify(cut) !== JSON.stringify(given)) called.add(`${noun}.${verb}`)
        return perform(...cut)
      },
    ])
    return [noun, Object.fromEntries(bare) as unknown]
  })
  return { engine: Object.fromEntries(nouns) as Engine, called }
}

export function bareOf(id: string): string {
  return id.replace(/^\{fp:\d+\}:(?=.)/, '')
}

function bareIn(value: unknown): unknown {
  if (typeof value === 'string') return bareOf(value)
  if (Array.isArray(value)) return value.map(bareIn)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, bareIn(inner)]))
}
