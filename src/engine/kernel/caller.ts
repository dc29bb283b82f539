import { parseActor } from '../../model/actor.ts'
import type { Caller } from '../../model/caller.ts'
import { EngineError } from '../../model/errors.ts'
import { checkNamespace } from '../../model/name.ts'

export type { Caller, CallerOptions } from '../../model/caller.ts'

/** A caller without the key that admitted it, where the key does not matter. */
export type Acting = Pick<Caller, 'namespace' | 'actor'>

export const localCaller: Caller = { namespace: null, actor: 'local', keyId: null }

/** The creator of a row, if the request names none. */
export function creatorOf({ actor }: Acting): string {
  const { name, onBehalfOf } = parseActor(actor)
  return onBehalfOf ?? name
}

/** The namespace of a new row: the requested one, else the caller's, else `default`. */
export function namespaceFor(caller: Acting, wanted: string | undefined): string {
  if (wanted === undefined) return caller.namespace ?? 'default'
  checkNamespace(wanted)
  if (caller.namespace !== null && caller.namespace !== wanted) {
    throw new EngineError(
      'namespace_mismatch',
      `namespace is '${wanted}', but this caller is bound to '${caller.namespace}'; omit the namespace, or use the caller's`,
      { bound: caller.namespace, wanted },
    )
  }
  return wanted
}

/**
 * The namespace whose rows are read: the caller's, else the requested one; null is all of them. `isForeign`: the caller is bound to
 * another namespace than the requested one, and reads no rows, as from a namespace that does not exist.
 */
export function namespaceToRead(
  caller: Acting,
  wanted: string | undefined,
): { readonly namespace: string | null; readonly isForeign: boolean } {
  if (wanted !== undefined) checkNamespace(wanted)
  const namespace = caller.namespace ?? wanted ?? null
  return { namespace, isForeign: wanted !== undefined && wanted !== namespace }
}
