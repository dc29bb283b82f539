// A server before the server that changes what it is told, without changing its length: so it refuses what it would have done,
// as one does whose statement was cancelled at that very moment.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RefusingProxy {
  readonly url: string
  /** From now on the one text stands for the other, which is as long. */
  replace(text: string, by: string): void
  /** Is told everything before the server is. */
  onTold(hear: (told: string) => void): void
}

export async function startRefusingProxy(target: string): Promise<RefusingProxy> {
  const { hostname, port } = new URL(target)
  let swap = (told: string): string => told
  let onTold = (_told: string): void => {}
  const server = createServer((inbound) => {
    const outbound = connect(Number(port), hostname)
    inbound.on('data', (bytes) => {
      const told = bytes.toString('latin1')
      onTold(told)
      outbound.write(swap(told), 'latin1')
    })
    outbound.on('data', (answer) => inbound.write(answer))
    for (const [one, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      one.on('close', () => other.destroy())
      one.on('error', () => {})
    }
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    replace: (text, by) => {
      if (text.length !== by.length) throw new Error('the length of a message would change')
      swap = (told) => told.replaceAll(text, by)
    },
    onTold: (hear) => void (onTold = hear),
  }
}
