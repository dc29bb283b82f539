// A proxy to the database that can fall silent: no data arrives on either side any more, not even an end, as when a firewall
// has dropped the connection.
import type { Socket } from 'node:net'
import { startProxy } from '../support/proxy.ts'

export interface SilentProxy {
  readonly url: string
  fallSilent(): void
  /** Silences only the connections that are open now; new ones pass. */
  silenceOpen(): void
  readonly connectionCount: () => number
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  let isSilent = false
  let generation = 0
  let connections = 0
  const url = await startProxy(databaseUrl, (client, database) => {
    const mine = generation
    const isCut = (): boolean => isSilent || mine !== generation
    const pass = (from: Socket, to: Socket): void => {
      from.on('data', (bytes) => void (isCut() || to.write(bytes)))
      from.on('end', () => void (isCut() || to.end()))
    }
    connections += 1
    pass(client, database)
    pass(database, client)
    client.on('close', () => database.destroy())
  })
  return {
    url,
    fallSilent: () => void (isSilent = true),
    silenceOpen: () => void (generation += 1),
    connectionCount: () => connections,
  }
}
