// A malformed or slow request, or one with endless headers, never reaches the app. It gets a response of the same form.
import { maxHeaderSize, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { EngineError } from '../model/errors.ts'
import { problemOf } from './problem.ts'

const slowestMs = { headers: 10_000, request: 60_000 } as const

const checkEveryMs = 1000

/** Options of the server. By default Node checks for slow requests every 30 s. */
export const slowRequests = {
  headersTimeout: slowestMs.headers,
  requestTimeout: slowestMs.request,
  connectionsCheckingInterval: checkEveryMs,
} as const

export function answerBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return
    const refusal = refusalOf(error.code)
    const body = JSON.stringify(problemOf(refusal, ''))
    const head = [
      `HTTP/1.1 ${refusal.status} ${refusal.code}`,
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  })
}

function refusalOf(code: string | undefined): EngineError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const sentence = `the request did not arrive in time: its headers have ${slowestMs.headers} ms and all of it ${slowestMs.request} ms, checked every ${checkEveryMs} ms; send it again`
    return new EngineError('request_timeout', sentence)
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const sentence = `the headers are larger than ${maxHeaderSize} bytes; send fewer or shorter ones`
    return new EngineError('headers_too_large', sentence, { limit: maxHeaderSize })
  }
  return new EngineError('invalid_input', 'what came is no HTTP request; send HTTP/1.1, without TLS')
}
