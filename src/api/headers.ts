// Headers of our own, and those that mean something here.
export const headers = {
  requestId: 'x-request-id',
  idempotencyKey: 'idempotency-key',
  /**
   * Narrows a key of all namespaces to one; `engine.as({ namespace })` of the client. The answer to `getServerTime` tells by it
   * where things go that name none.
   */
  namespace: 'flowfabric-namespace',
  /** `omit`: the answer has bytes only, not also as JSON. Our client decodes the bytes itself. */
  plain: 'flowfabric-plain',
  /** Who acts, where the key is an admin's; `engine.as({ actor })` of the client. */
  actor: 'flowfabric-actor',
} as const
