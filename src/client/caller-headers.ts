import { headers as names } from '../api/headers.ts'

/** The namespace and actor of an engine. By default, it acts in all namespaces, as the owner of the key. */
export interface Bound {
  readonly namespace: string | null
  readonly actor: string | null
}

export const unbound: Bound = { namespace: null, actor: null }

/** Headers contain only Latin letters, so names are percent-encoded. */
export function callerHeaders({ namespace, actor }: Bound): Readonly<Record<string, string>> {
  return {
    ...(namespace !== null && { [names.namespace]: encodeURIComponent(namespace) }),
    ...(actor !== null && { [names.actor]: encodeURIComponent(actor) }),
  }
}
