// Stands between an engine and its database and loses a reply: the server has done the work, and nobody hears of it.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface LossyProxy {
  readonly url: string
  /** The next bytes that come back from the server, or those after some others, are lost together with their connection. */
  loseNextReply(after?: number): void
  /** From now on nothing is lost. */
  loseNothing(): void
  readonly lostCount: () => number
}

export async function startLossyProxy(databaseUrl: string): Promise<LossyProxy> {
  const target = new URL(databaseUrl)
  const open = new Set<Socket>()
  /** How many replies still go through; null while none is to be lost. */
  let passing: number | null = null
  let lost = 0
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const both = [client, upstream]
    for (const socket of both) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        for (const other of both) other.destroy()
      })
    }
    client.on('data', (bytes) => upstream.write(bytes))
    upstream.on('data', (bytes) => {
      if (passing === null) return void client.write(bytes)
      if (passing > 0) {
        passing -= 1
        return void client.write(bytes)
      }
      passing = null
      lost += 1
      for (const socket of both) socket.destroy()
    })
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
  return {
    url: url.href,
    loseNextReply: (after = 0) => {
      passing = after
    },
    loseNothing: () => {
      passing = null
    },
    lostCount: () => lost,
  }
}
