import { formatActor, parseActor } from './actor.ts'
import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { checkNamespace } from './name.ts'
import { refuseUnknownFields } from './shape.ts'
import { checkText } from './text.ts'

/** The caller of an operation. The namespace is a predicate of each statement; `null` sees all of them. */
export interface Caller {
  readonly namespace: string | null
  /** In the form of `model/actor.ts`. */
  readonly actor: string
  /** The API key that admitted the caller; null in this process, and on a server without keys. */
  readonly keyId: string | null
}

/** The options of `engine.as`: a namespace or `'*'`, and the actor. */
export interface CallerOptions {
  readonly namespace?: string
  readonly actor?: string
  /**
   * The API key that admitted the caller: for a server, which binds its engine for each request. A client cannot set
   * it.
   */
  readonly keyId?: string | null
}

/** A caller with a key stays the actor: an actor that is named later is the one on whose behalf it acts. */
export function bindAdmitted(from: Caller, { keyId: given, ...options }: CallerOptions): Caller {
  const { namespace, actor } = bindCaller(from, options)
  const keyId = given ?? from.keyId
  if (keyId === null || options.actor === undefined) return { namespace, actor, keyId }
  if (given !== undefined) return { namespace, keyId, actor: formatActor({ name: actor, keyId, onBehalfOf: null }) }
  const { name } = parseActor(from.actor)
  return { namespace, keyId, actor: formatActor({ name, keyId, onBehalfOf: actor }) }
}

/** Over HTTP the actor is null until one is named: the server knows the owner of a key. */
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
