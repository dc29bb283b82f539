// A proxy to the database that can silence open connections: bytes are swallowed, nothing is closed, new connections
// work.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface SwallowingProxy {
  readonly url: string
  /** Returns how many connections it silenced. */
  silenceOpen(): number
  close(): void
}

export async function startSwallowingProxy(databaseUrl: string): Promise<SwallowingProxy> {
  const url = new URL(databaseUrl)
  const { hostname: host, port } = url
  const sockets = new Set<Socket>()
  const passing = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const database = connect({ port: Number(port), host, allowHalfOpen: true })
    passing.add(client)
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => void (passing.has(client) && to.write(bytes)))
      from.on('end', () => void (passing.has(client) && to.end()))
      from.on('close', () => sockets.delete(from))
    }
    client.on('close', () => passing.delete(client))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    silenceOpen() {
      const { size } = passing
      passing.clear()
      return size
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
