// Distributes connections over several servers, like a balancer: a connection goes to a running server, and ends with
// it.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Balancer {
  readonly url: string
  /** The servers, in the order in which they get connections. */
  readonly ports: number[]
}

export async function startBalancer(): Promise<Balancer> {
  const ports: number[] = []
  const open = new Set<Socket>()
  let turn = 0
  const server = createServer((client) => {
    turn += 1
    const upstream = connect(ports[turn % ports.length]!, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ports }
}
