import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { checkNamespace } from '../model/name.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { checkText } from '../model/text.ts'

/** For whom an operation runs. The namespace is a predicate of each statement; `null` sees all of them. */
export interface Caller {
  readonly namespace: string | null
  readonly actor: string
}

/** What `engine.as` takes: a namespace or `'*'`, and who acts. */
export interface CallerOptions {
  readonly namespace?: string
  readonly actor?: string
}

export const localCaller: Caller = { namespace: null, actor: 'local' }

export function bindCaller(from: Caller, options: CallerOptions): Caller {
  refuseUnknownFields('as', options, ['namespace', 'actor'])
  return {
    namespace: bindNamespace(from.namespace, options.namespace),
    actor:
      options.actor === undefined
        ? from.actor
        : checkText('actor', options.actor, { minBytes: 1, maxBytes: limits.actorBytes }),
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
    `this engine is bound to namespace '${bound}' and cannot act for '${wanted}'; bind from the unbound engine instead`,
    { bound, wanted },
  )
}

/** The namespace that something new belongs to: the one asked for, else the caller's, else `default`. */
export function namespaceFor(caller: Caller, wanted: string | undefined): string {
  if (wanted === undefined) return caller.namespace ?? 'default'
  checkNamespace(wanted)
  if (caller.namespace !== null && caller.namespace !== wanted) {
    throw new EngineError(
      'namespace_mismatch',
      `namespace is '${wanted}', but this caller acts in '${caller.namespace}'; leave the namespace out or use the caller's`,
      { bound: caller.namespace, wanted },
    )
  }
  return wanted
}
