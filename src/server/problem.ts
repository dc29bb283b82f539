// A refusal as `application/problem+json` (RFC 9457), made from the error table alone.
import { EngineError, errorTable, type ErrorCode } from '../model/errors.ts'

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

/**
 * The error as a caller may see it. An error of the database, or a bug of ours, names users, hosts and statements: its
 * sentence comes from the table, and `onFault` receives the whole error.
 */
export function asRefusal(error: unknown, onFault: (error: unknown) => void): EngineError {
  const code = EngineError.is(error) ? error.code : 'internal_error'
  if (EngineError.is(error) && !isInside(code)) return error
  onFault(error)
  const meaning = errorTable[code].meaning.replace(/\.$/, '')
  const next = errorTable[code].retryable ? 'try again' : "search for the request id in the server's log"
  return new EngineError(code, `${meaning}; ${next}`)
}

/** Whether the error reveals internals of the server. */
function isInside(code: ErrorCode): boolean {
  return code.startsWith('database_') || code.startsWith('schema_') || insideCodes.includes(code)
}

const insideCodes: readonly ErrorCode[] = [
  'directory_locked',
  'code_too_old',
  'nested_query',
  'no_transaction',
  'wrong_wrapping_secret',
  'corruption',
  'internal_error',
]
