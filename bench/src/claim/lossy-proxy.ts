// Between a worker and its database or server: loses the reply that contains a text, together with its connection.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

export interface LossyProxy {
  readonly url: string
  /** The next reply with one of these texts is lost; resolves with the moment of that. */
  lose(texts: readonly string[]): Promise<number>
  close(): void
}

export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const url = new URL(target)
  const { hostname: host, port } = url
  let marks: readonly string[] = []
  let onLost: (at: number) => void = () => {}
  const server = createServer((client) => {
    const upstream = connect({ host, port: Number(port) })
    const end = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.pipe(upstream)
    upstream.on('data', (bytes) => {
      if (!marks.some((text) => bytes.includes(text))) return void client.write(bytes)
      marks = []
      onLost(performance.now())
      end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    lose(texts) {
      marks = texts
      return new Promise((resolve) => (onLost = resolve))
    },
    close: () => void server.close(),
  }
}
