// Stands between a client and its database, and can fall silent: nothing arrives any more on either side, not even an end, as
// when a firewall has forgotten the connection.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SilentProxy {
  readonly url: string
  fallSilent(): void
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl)
  const open = new Set<Socket>()
  let isSilent = false
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true })
    const pass = (from: Socket, to: Socket): void => {
      open.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => void (isSilent || to.write(bytes)))
      from.on('end', () => void (isSilent || to.end()))
      from.on('close', () => open.delete(from))
    }
    pass(client, upstream)
    pass(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, fallSilent: () => void (isSilent = true) }
}
