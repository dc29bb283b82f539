// A proxy to the database that a test can take away and bring back: open connections are destroyed, new ones are
// refused.
import type { Socket } from 'node:net'
import { startProxy, tie } from '../support/proxy.ts'

export interface OutageProxy {
  readonly url: string
  /** Resolves when a call has found the database unreachable. */
  takeAway(): Promise<void>
  giveBack(): void
}

export async function startOutageProxy(databaseUrl: string): Promise<OutageProxy> {
  const open = new Set<Socket>()
  let onRefused: (() => void) | null = null
  const url = await startProxy(databaseUrl, (client, database) => {
    tie(client, database)
    if (onRefused !== null) {
      client.destroy()
      return onRefused()
    }
    open.add(client)
    client.on('close', () => open.delete(client))
    client.on('data', (bytes) => database.write(bytes))
    database.on('data', (bytes) => client.write(bytes))
  })
  return {
    url,
    takeAway() {
      return new Promise((resolve) => {
        onRefused = resolve
        for (const socket of open) socket.destroy()
      })
    },
    giveBack: () => void (onRefused = null),
  }
}
