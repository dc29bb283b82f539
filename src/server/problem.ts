// A refusal as `application/problem+json` (RFC 9457), from the one table of errors and nothing else.
import { EngineError, errorTable } from '../model/errors.ts'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string
}

export function problemOf(error: EngineError, requestId: string): Problem {
  const { code, message, status, retryable, details } = error
  const title = errorTable[code].meaning
  return {
    type: `urn:flowfabric:error:${code}`,
    title,
    status,
    detail: message,
    code,
    retryable,
    details: details,
    requestId,
  }
}

export function problemResponse(error: EngineError, requestId: string): Response {
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  for (const [name, value] of Object.entries(headersFor(error))) headers.set(name, value)
  return new Response(JSON.stringify(problemOf(error, requestId)), { status: error.status, headers })
}

export function headersFor({ code, details }: EngineError): Record<string, string> {
  if (code === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="flowfabric"' }
  if (code === 'method_not_allowed') return { allow: (details['allow'] as readonly string[]).join(', ') }
  if (code === 'rate_limited') return { 'retry-after': `${Math.ceil(Number(details['retryAfterMs'] ?? 1000) / 1000)}` }
  if (code === 'concurrency_limited' || errorTable[code].status === 503) return { 'retry-after': '1' }
  return {}
}

/** Whatever was thrown, as one of ours. A fault of our own says nothing of itself; `onFault` hears of it. */
export function asRefusal(error: unknown, onFault: (error: unknown) => void): EngineError {
  if (EngineError.is(error)) {
    if (error.status >= 500 && !error.retryable) onFault(error)
    return error
  }
  onFault(error)
  const sentence = 'the server met a fault of its own; look for the request id in its log, which has what happened'
  return new EngineError('internal_error', sentence, {})
}
