// What is no request at all, comes too slowly, or has headers without end never reaches the app; it is answered in the same form.
import { maxHeaderSize, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { EngineError } from '../model/errors.ts'
import { problemOf } from './problem.ts'

const slowestMs = { headers: 10_000, request: 60_000 } as const

/** Options of the server. Node looks for slow requests every 30 s unless it is told otherwise. */
export const slowRequests = {
  headersTimeout: slowestMs.headers,
  requestTimeout: slowestMs.request,
  connectionsCheckingInterval: 1000,
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
    const sentence = `the request was not whole in time: headers have ${slowestMs.headers} ms, all of it ${slowestMs.request} ms; send it again`
    return new EngineError('request_timeout', sentence)
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const sentence = `the headers are larger than ${maxHeaderSize} bytes; send fewer or shorter ones`
    return new EngineError('headers_too_large', sentence, { limit: maxHeaderSize })
  }
  return new EngineError('invalid_input', 'what came is no HTTP request; send HTTP/1.1, without TLS')
}
