// The process of one server, as `flowfabric serve` runs it. On an order it returns its memory and processor time.
import { serve as listen } from '../../../src/server.ts'
import { serve } from '../child.ts'

export interface ServerSaid {
  readonly url: string
  readonly residentBytes: number
  /** Since its start. */
  readonly processorMs: number
}

await serve<ServerSaid>(async (input) => {
  const { url } = input as { url: string }
  const server = await listen({ url, port: 0 })
  return {
    async obey() {
      const { user, system } = process.cpuUsage()
      return { url: server.url, residentBytes: process.memoryUsage().rss, processorMs: (user + system) / 1000 }
    },
    close: async () => void (await server.stop(1000)),
  }
})
