// The connection was lost before the reply was complete: whether the server has performed the call is unknown, unless
// the request was never sent.

export class LostConnection extends Error {
  /** No byte of the request can have reached the server. */
  readonly isUnsent: boolean
  /** The server that could not be reached. */
  readonly origin: string | null

  constructor(why: Error | string, options: { readonly isUnsent?: boolean; readonly origin?: string } = {}) {
    super(typeof why === 'string' ? why : messageOf(why), { cause: why })
    this.isUnsent = options.isUnsent ?? false
    this.origin = options.origin ?? null
  }
}

// A name with several addresses fails with one error for each, and no message of its own.
function messageOf(error: Error): string {
  if (error.message !== '') return error.message
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : []
  return first?.message ?? 'the connection was lost'
}
