// A server may end a connection in the very packet in which it reports that it is ready, for instance while it shuts
// down.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/sql/postgres.ts'
import { statement } from '../../src/sql/statement.ts'

const one = statement({ name: 'test.ended_one', params: {}, row: { one: 'int4' }, text: 'select 1 as one' })

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const authenticated = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const ended = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'))
// A message with one text, which confirms our settings.
const column = message(
  'T',
  Buffer.concat([Buffer.from('\0\x01value\0'), Buffer.alloc(9), Buffer.from([25]), Buffer.alloc(8)]),
)
const row = message('D', Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 3]), Buffer.from('61s')]))
const done = message('C', Buffer.from('SELECT 1\0'))

async function answerOnceThenEnd(socket: Socket): Promise<void> {
  await once(socket, 'data')
  socket.write(Buffer.concat([authenticated, ready]))
  await once(socket, 'data')
  socket.end(Buffer.concat([column, row, done, ready]))
}

async function endAtOnce(socket: Socket): Promise<void> {
  await once(socket, 'data')
  socket.end(Buffer.concat([authenticated, ready, ended]))
}

test('a connection that ends while it begins is an error of the call, not of the process', async () => {
  let connections = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    connections++
    void (connections === 1 ? answerOnceThenEnd(socket) : endAtOnce(socket))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sql = await openPostgres({ url: `postgres://user@127.0.0.1:${port}/database`, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  for (let calls = 0; calls < 3; calls++) await expect(sql.query(one, {})).rejects.toThrow()
  expect(connections).toBeGreaterThan(1)
})
