// What is no request at all, comes too slowly, or has headers without end never reaches the app; it is answered in the same form.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { EngineError } from '../model/errors.ts'
import { problemOf } from './problem.ts'

const slowestMs = { headers: 10_000, request: 60_000 } as const

export function answerBrokenRequests(server: Server): void {
  server.headersTimeout = slowestMs.headers
  server.requestTimeout = slowestMs.request
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
    return new EngineError('request_timeout', `the request was not whole after ${slowestMs.request} ms; send it again`)
  }
  if (code === 'HPE_HEADER_OVERFLOW')
    return new EngineError('headers_too_large', 'the headers are too large; send fewer')
  return new EngineError('invalid_input', 'this is no HTTP request that can be understood')
}
