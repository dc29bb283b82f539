// A proxy to the database that changes messages without changing their length. The server then refuses the statement, like a
// server whose statement was cancelled at that very moment.
import { startProxy, tie } from '../support/proxy.ts'

export interface RefusingProxy {
  readonly url: string
  /** From now on `by` replaces `text` in every message; both have the same length. */
  replace(text: string, by: string): void
  /** Calls the function with every message before the server receives it. */
  onMessage(receive: (message: string) => void): void
}

export async function startRefusingProxy(databaseUrl: string): Promise<RefusingProxy> {
  let swap = (message: string): string => message
  let onMessage = (_message: string): void => {}
  const url = await startProxy(databaseUrl, (client, database) => {
    tie(client, database)
    client.on('data', (bytes) => {
      const message = bytes.toString('latin1')
      onMessage(message)
      database.write(swap(message), 'latin1')
    })
    database.on('data', (bytes) => client.write(bytes))
  })
  return {
    url,
    replace: (text, by) => {
      if (text.length !== by.length) throw new Error('the length of a message would change')
      swap = (message) => message.replaceAll(text, by)
    },
    onMessage: (receive) => void (onMessage = receive),
  }
}
