// A way to the database on which what is told is changed, without changing its length: so the server refuses what it would have
// done, as one does whose statement was cancelled at that very moment.
import { startProxy, tie } from '../support/proxy.ts'

export interface RefusingProxy {
  readonly url: string
  /** From now on the one text stands for the other, which is as long. */
  replace(text: string, by: string): void
  /** Is told everything before the server is. */
  onTold(hear: (told: string) => void): void
}

export async function startRefusingProxy(databaseUrl: string): Promise<RefusingProxy> {
  let swap = (told: string): string => told
  let onTold = (_told: string): void => {}
  const url = await startProxy(databaseUrl, (client, database) => {
    tie(client, database)
    client.on('data', (bytes) => {
      const told = bytes.toString('latin1')
      onTold(told)
      database.write(swap(told), 'latin1')
    })
    database.on('data', (bytes) => client.write(bytes))
  })
  return {
    url,
    replace: (text, by) => {
      if (text.length !== by.length) throw new Error('the length of a message would change')
      swap = (told) => told.replaceAll(text, by)
    },
    onTold: (hear) => void (onTold = hear),
  }
}
