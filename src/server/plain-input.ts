// Namespaces whose inputs and signals must be bytes of the callers' own codec, such as one that encrypts. Plain JSON
// would be stored readable there, and the codec of the workers could not decode it.
import type { Fields } from '../api/call.ts'
import type { Operation } from '../api/routes.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { checkNamespace } from '../model/name.ts'
import { show } from '../model/text.ts'

/**
 * For these verbs a request without a namespace means `default`; every other operation uses the namespace of the row
 * that it names.
 */
const creating = ['create', 'createMany', 'submitGraph', 'put']

export class PlainInput {
  readonly #refusing: ReadonlySet<string>

  /** `*` is every namespace. */
  constructor(namespaces: readonly string[] = []) {
    const allowed = "a list of namespaces, or ['*'] for all"
    if (!Array.isArray(namespaces)) throw refusal('invalid_input', 'refusePlainInput', show(namespaces), allowed)
    for (const namespace of namespaces) if (namespace !== '*') checkNamespace(namespace)
    this.#refusing = new Set(namespaces)
  }

  /** `bound`: the namespace that the caller acts in; null when it may act in all of them. */
  check({ verb }: Operation, bound: string | null, fields: Fields): void {
    if (this.#refusing.size === 0) return
    const named = bound ?? fields['namespace'] ?? (creating.includes(verb) ? 'default' : null)
    this.#checkOne(named, fields)
    for (const list of ['items', 'members']) {
      const items = fields[list]
      if (!Array.isArray(items)) continue
      for (const item of items) {
        if (typeof item === 'object' && item !== null)
          this.#checkOne(bound ?? (item as Fields)['namespace'] ?? named, item)
      }
    }
  }

  #checkOne(namespace: unknown, { input, value, payload, payloadEncoding }: Fields): void {
    const isPlain = payload !== undefined && (payloadEncoding ?? 'json') === 'json'
    if (input === undefined && value === undefined && !isPlain) return
    if (namespace === null) throw refused('the namespace of the request is not known, and some refuse plain JSON', '')
    if (!this.#refusing.has('*') && !this.#refusing.has(namespace as string)) return
    throw refused(`namespace ${show(namespace)} refuses plain JSON`, namespace as string)
  }
}

function refused(why: string, namespace: string): EngineError {
  const next = 'send payload as bytes of your codec, with its payloadEncoding'
  const otherwise = namespace === '' ? ', or name the namespace in the header flowfabric-namespace' : ''
  return new EngineError('plain_input_refused', `${why}; ${next}${otherwise}`, { namespace })
}
