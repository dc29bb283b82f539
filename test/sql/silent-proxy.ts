// A way to the database that can fall silent: nothing arrives any more on either side, not even an end, as when a firewall has
// forgotten the connection.
import type { Socket } from 'node:net'
import { startProxy } from '../support/proxy.ts'

export interface SilentProxy {
  readonly url: string
  fallSilent(): void
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  let isSilent = false
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => void (isSilent || to.write(bytes)))
    from.on('end', () => void (isSilent || to.end()))
  }
  const url = await startProxy(databaseUrl, (client, database) => {
    pass(client, database)
    pass(database, client)
  })
  return { url, fallSilent: () => void (isSilent = true) }
}
