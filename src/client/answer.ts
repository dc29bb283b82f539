// Interprets a response: a value, a refusal of the server, or the response of another machine between here and the
// server.
import type { Route } from '../api/route.ts'
import { errorFrom, fromWire } from '../api/wire.ts'
import { EngineError, type ErrorCode } from '../model/errors.ts'
import type { Reply } from './transport.ts'

/** The value, or null where the route maps the refusal to null; throws every other refusal. */
export function valueOf(route: Route, reply: Reply, requestId: string): unknown {
  if (reply.status === 204) return undefined
  if (reply.status !== 200 && reply.status !== 201) {
    const refusal = refusalOf(route, reply, requestId)
    if (refusal.code === route.absent) return null
    throw refusal
  }
  const answer = fromWire(route, parseJson(route, reply))
  if (route.wrap === undefined) return answer
  if (Object.hasOwn(answer as object, route.wrap)) return (answer as Record<string, unknown>)[route.wrap]
  throw malformed(route, reply, `it has no ${route.wrap}`)
}

export function refusalOf(route: Route, reply: Reply, requestId: string): EngineError {
  if (!isJson(reply, 'application/problem+json')) return refusalOfAStranger(route, reply)
  const { code, detail, details } = parseJson(route, reply)
  const cause = new Error(`${route.operationId} was answered ${reply.status}, request id ${requestId}`)
  if (code === 'route_not_found') {
    const sentence = `the server knows no ${route.operationId}: it is of another version, or its URL leads elsewhere`
    return new EngineError('unsupported', sentence, { operationId: route.operationId }, { cause })
  }
  return errorFrom({ code, message: detail, details }, cause)
}

/** The Retry-After of a 429 or a 503, in milliseconds. */
export function retryAfterMs({ headers }: Reply): number {
  const seconds = Number(headers['retry-after'] ?? 0)
  return Number.isFinite(seconds) ? seconds * 1000 : 0
}

function parseJson(route: Route, reply: Reply): Record<string, unknown> {
  if (!isJson(reply, 'application/json') && !isJson(reply, 'application/problem+json')) {
    throw refusalOfAStranger(route, reply)
  }
  let value: unknown
  try {
    value = JSON.parse(reply.text)
  } catch {
    throw malformed(route, reply, 'it is no JSON')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw malformed(route, reply, 'it is no object')
}

function isJson({ headers }: Reply, type: string): boolean {
  const [found = ''] = (headers['content-type'] ?? '').split(';')
  return found.trim().toLowerCase() === type
}

const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  413: 'payload_too_large',
  // Proxies and servers limit the length of a URL with its query.
  414: 'invalid_input',
  431: 'invalid_input',
  429: 'rate_limited',
}

// The page of a proxy, or another server altogether.
function refusalOfAStranger({ operationId }: Route, reply: Reply): EngineError {
  const { status, headers, text } = reply
  const type = headers['content-type'] ?? 'no content type'
  const start = text
    .replaceAll(/<[^>]*>|\s+/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim()
    .slice(0, 200)
  const found = `${operationId} was answered ${status} with ${type}${start === '' ? '' : `: ${JSON.stringify(start)}`}`
  const details = { status, contentType: type }
  const code = codeOfStatus[status] ?? (status >= 500 || status === 408 ? 'server_unreachable' : 'invalid_url')
  const next =
    code === 'invalid_url'
      ? 'that is no FlowFabric server; look at the URL'
      : 'that came from something between here and the FlowFabric server'
  return new EngineError(code, `${found}; ${next}`, details)
}

function malformed({ operationId }: Route, { status, text }: Reply, why: string): EngineError {
  const sentence = `the answer to ${operationId} (${status}) cannot be understood, ${why}: ${JSON.stringify(text.slice(0, 200))}`
  return new EngineError('internal_error', sentence, { operationId, status })
}
