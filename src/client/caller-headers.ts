import { headers as names } from '../api/headers.ts'

/** For whom an engine acts: of all namespaces, and by whoever the key belongs to, until it is bound. */
export interface Bound {
  readonly namespace: string | null
  readonly actor: string | null
}

export const unbound: Bound = { namespace: null, actor: null }

/** Headers hold no more than Latin letters, so names are percent-encoded. */
export function callerHeaders({ namespace, actor }: Bound): Readonly<Record<string, string>> {
  return {
    ...(namespace !== null && { [names.namespace]: encodeURIComponent(namespace) }),
    ...(actor !== null && { [names.actor]: encodeURIComponent(actor) }),
  }
}
