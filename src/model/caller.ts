import { formatActor, parseActor } from './actor.ts'
import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { checkNamespace } from './name.ts'
import { refuseUnknownFields } from './shape.ts'
import { checkText } from './text.ts'

/** For whom an operation runs. The namespace is a predicate of each statement; `null` sees all of them. */
export interface Caller {
  readonly namespace: string | null
  /** As `model/actor.ts` writes it. */
  readonly actor: string
  /** Of the API key that admitted the caller; null in this process, and where a server asks for none. */
  readonly keyId: string | null
}

/** What `engine.as` takes: a namespace or `'*'`, and who acts. */
export interface CallerOptions {
  readonly namespace?: string
  readonly actor?: string
  /** The API key that admitted the caller: for a server that binds its engine for each request. A client cannot name one. */
  readonly keyId?: string | null
}

/** A caller with a key stays the one that acts: an actor that is named later is the one in whose name. */
export function bindAdmitted(from: Caller, { keyId: given, ...options }: CallerOptions): Caller {
  const { namespace, actor } = bindCaller(from, options)
  const keyId = given ?? from.keyId
  if (keyId === null || options.actor === undefined) return { namespace, actor, keyId }
  if (given !== undefined) return { namespace, keyId, actor: formatActor({ name: actor, keyId, onBehalfOf: null }) }
  const { name } = parseActor(from.actor)
  return { namespace, keyId, actor: formatActor({ name, keyId, onBehalfOf: actor }) }
}

/** Over HTTP nobody is named until somebody is: the server knows who a key belongs to. */
export function bindCaller<Actor extends string | null>(
  from: { readonly namespace: string | null; readonly actor: Actor },
  options: CallerOptions,
): { readonly namespace: string | null; readonly actor: Actor | string } {
  refuseUnknownFields('as', options, ['namespace', 'actor'])
  return {
    namespace: bindNamespace(from.namespace, options.namespace),
    actor:
      options.actor === undefined
        ? from.actor
        : checkText('actor', options.actor, { minBytes: 1, maxBytes: limits.actorBytes, refuseControls: true }),
  }
}

// A bound engine can be bound again to the same namespace, never to a wider or another one.
function bindNamespace(bound: string | null, wanted: string | undefined): string | null {
  if (wanted === undefined) return bound
  if (wanted !== '*') checkNamespace(wanted)
  if (bound === null) return wanted === '*' ? null : wanted
  if (wanted === bound) return bound
  throw new EngineError(
    'namespace_mismatch',
    `this engine is bound to namespace '${bound}' and cannot act in '${wanted}'; bind it from the unbound engine instead`,
    { bound, wanted },
  )
}
