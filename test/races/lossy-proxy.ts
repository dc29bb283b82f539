// A proxy to the database that can lose a reply: the server has done the work, and the client receives no answer.
import { startProxy, tie } from '../support/proxy.ts'

export interface LossyProxy {
  readonly url: string
  /** Loses the next bytes from the server, or those after some others, together with their connection. */
  loseNextReply(after?: number): void
  /** Loses the next reply that contains one of these texts, with its connection. */
  loseReplyWith(...texts: readonly string[]): void
  /** From now on nothing is lost. */
  loseNothing(): void
  readonly lostCount: () => number
}

export async function startLossyProxy(databaseUrl: string): Promise<LossyProxy> {
  /** How many replies still pass; null while none is to be lost. */
  let passing: number | null = null
  let marks: readonly string[] = []
  let lost = 0
  const url = await startProxy(databaseUrl, (client, database) => {
    tie(client, database)
    client.on('data', (bytes) => database.write(bytes))
    database.on('data', (bytes) => {
      if (marks.some((text) => bytes.includes(text))) {
        marks = []
        lost += 1
        return void database.destroy()
      }
      if (passing === null) return void client.write(bytes)
      if (passing > 0) {
        passing -= 1
        return void client.write(bytes)
      }
      passing = null
      lost += 1
      database.destroy()
    })
  })
  return {
    url,
    loseNextReply: (after = 0) => {
      passing = after
    },
    loseReplyWith: (...texts) => {
      marks = texts
    },
    loseNothing: () => {
      passing = null
      marks = []
    },
    lostCount: () => lost,
  }
}
