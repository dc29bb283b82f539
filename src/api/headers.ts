// Our own headers, and others that we use.
export const headers = {
  requestId: 'x-request-id',
  idempotencyKey: 'idempotency-key',
  /**
   * Narrows a key of all namespaces to one; `engine.as({ namespace })` of the client. The response to `getServerTime`
   * carries the namespace of requests without one.
   */
  namespace: 'flowfabric-namespace',
  /** `omit`: the response has only bytes, not also JSON. Our client decodes the bytes itself. */
  plain: 'flowfabric-plain',
  /** The actor, for an admin key; `engine.as({ actor })` of the client. */
  actor: 'flowfabric-actor',
} as const
