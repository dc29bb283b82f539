// A proxy between a client and its database; the test decides what passes, and how. It ends with its test.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Calls `join` for each connection, which passes the data on. Returns the URL that leads through the proxy. */
export async function startProxy(
  databaseUrl: string,
  join: (client: Socket, database: Socket) => void,
): Promise<string> {
  const url = new URL(databaseUrl)
  const { hostname: host, port } = url
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const database = connect({ port: Number(port), host, allowHalfOpen: true })
    for (const socket of [client, database]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => open.delete(socket))
    }
    join(client, database)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return url.href
}

/** Closes each socket when the other one closes. */
export function tie(client: Socket, database: Socket): void {
  const both = [client, database]
  const end = (): void => {
    for (const socket of both) socket.destroy()
  }
  for (const socket of both) socket.on('end', end).on('close', end)
}
