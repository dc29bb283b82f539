import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { answerBrokenRequests, slowRequests } from '../../src/server/broken-request.ts'

test('the answer to a request that arrives too slowly states the times that the server really applies', async () => {
  const server = createServer(slowRequests)
  answerBrokenRequests(server)
  let written = ''
  const socket = new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, done) => {
      written += chunk.toString()
      done()
    },
  })
  server.emit('clientError', Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  const { headersTimeout, requestTimeout, connectionsCheckingInterval } = slowRequests
  expect(server).toMatchObject({ headersTimeout, requestTimeout })
  expect(written).toContain('HTTP/1.1 408')
  expect(written).toContain(`headers have ${headersTimeout} ms and all of it ${requestTimeout} ms`)
  expect(written).toContain(`checked every ${connectionsCheckingInterval} ms`)
})
