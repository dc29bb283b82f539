/** SQL for the id of the key that signs now: the namespace's own, else the one that is shared. */
export function activeKid(namespace: string): string {
  return `(
    select k.kid
    from flowfabric.ff_waitpoint_hmac k
    where k.namespace = any (array[${namespace}, '']) and k.is_active
    order by k.namespace desc
    limit 1)`
}
