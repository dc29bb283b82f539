// A key belongs to a namespace, or to all of them: the shared scope. A namespace without a key of its own signs with
// the shared one. A kid is unambiguous: a namespace and the shared scope never have the same, and none is used a second
// time.
import { namespaceFor, type Caller } from '../kernel/caller.ts'

export const sharedScope = ''

/**
 * A caller of one namespace uses the keys of that one; a caller of all uses the shared ones, unless it names another.
 */
export function scopeFor(caller: Caller, namespace: string | undefined): string {
  return namespace === undefined ? (caller.namespace ?? sharedScope) : namespaceFor(caller, namespace)
}

/** As results name it: null is shared by all. */
export function namespaceOf(scope: string): string | null {
  return scope === sharedScope ? null : scope
}
