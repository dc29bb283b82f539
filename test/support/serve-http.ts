// A test's engine behind a server on a port, and the client's engine in front of it.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { openClient, type OpenClientOptions } from '../../src/client/open.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { createApp, type AppOptions } from '../../src/server/app.ts'

export interface Listening {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Cuts off every open connection. */
  close(): Promise<void>
}

export async function listenWith(
  answer: (request: Request, incoming: IncomingMessage) => Response | Promise<Response>,
  port = 0,
): Promise<Listening> {
  const listener = getRequestListener((request, env) =>
    answer(request, (env as { incoming: IncomingMessage }).incoming),
  )
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: given } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${given}`,
    port: given,
    server,
    async close() {
      server.closeAllConnections()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}

export async function listen(engine: Engine, options: Partial<AppOptions> = {}): Promise<Listening> {
  const app = createApp(engine, { authenticate: null, ...options })
  const listening = await listenWith(app.fetch)
  return {
    ...listening,
    close() {
      app.stop()
      return listening.close()
    },
  }
}

export interface ServedOverHttp {
  readonly engine: Engine
  close(): Promise<void>
}

export async function serveOverHttp(engine: Engine, options: OpenClientOptions = {}): Promise<ServedOverHttp> {
  const server = await listen(engine)
  const client = await openClient(server.url, options)
  return {
    engine: client.engine,
    async close() {
      await client.close(1000)
      await server.close()
    },
  }
}
