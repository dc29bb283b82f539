// The cost of hostile request bodies for a server, in its own processor time: 16 MiB of empty items, on a route without
// a key and on one with a key, and bodies that never end.
import { once } from 'node:events'
import { connect as connectSocket, type Socket } from 'node:net'
import { startChild } from '../child.ts'
import type { ServerSaid } from '../http/server.child.ts'
import type { Bench, Scenario } from '../scenario.ts'
import { rowOf, type Turn } from '../turn.ts'

const plain = 'a set of one create, taken'
const keyless = '16 MiB of {} without a key, refused'
const keyed = '16 MiB of {} to a set of creates, refused'
const requestCount = 20
const unfinishedCount = 200

export const largeBodies: Scenario = {
  name: 'large-bodies',
  title: 'hostile request bodies: processor time of the server for each, and what it keeps',
  async run(bench) {
    const turns = new Map<string, Turn[]>([plain, keyless, keyed].map((label) => [label, []]))
    const grown: string[] = []
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const { ms, refusedMB, unfinishedMB } = await measure(bench)
      for (const [label, own] of turns) own.push({ round, value: ms[label]!, probeValue: ms[plain]! })
      grown.push(`${refusedMB.toFixed(0)} and ${unfinishedMB.toFixed(0)} MB`)
      bench.say(
        `round ${round}: ${[...turns.keys()].map((label) => `${label} ${ms[label]!.toFixed(1)} ms`).join('; ')}`,
      )
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: plain,
      rows: [...turns.keys()].map((label) => rowOf(turns, label, label === plain ? [] : [{ to: plain }])),
      notes: [
        `the server grew, after ${2 * requestCount} refused bodies, and with ${unfinishedCount} that never end: ${grown.join('; ')}`,
        'a body with a key is received whole before it is refused; one without a key is refused by its announced length',
      ],
    }
  },
}

interface Measured {
  readonly ms: Readonly<Record<string, number>>
  readonly refusedMB: number
  readonly unfinishedMB: number
}

async function measure({ server, node }: Bench): Promise<Measured> {
  const database = await server.createDatabase()
  const served = await startChild<ServerSaid>(node, new URL('../http/server.child.ts', import.meta.url), database)
  const { url } = await served.tell('go')
  const bomb = `{"items":[${'{},'.repeat(5_500_000)}{}]}`
  const processorMs = async (path: string, body: string): Promise<number> => {
    const before = await served.tell('go')
    for (let count = 0; count < requestCount; count++) {
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      await (await fetch(url + path, init)).text()
    }
    return ((await served.tell('go')).processorMs - before.processorMs) / requestCount
  }
  const residentMB = async (): Promise<number> => (await served.tell('go')).residentBytes / 1e6
  // Once before, so that nothing is compiled while it is measured.
  await processorMs('/v1/executions/create', '{"items":[{"kind":"k"}]}')
  await processorMs('/v1/executions/create', bomb)
  const plainMs = await processorMs('/v1/executions/create', '{"items":[{"kind":"k"}]}')
  const before = await residentMB()
  const keylessMs = await processorMs('/v1/signals/deliver', bomb)
  const keyedMs = await processorMs('/v1/executions/create', bomb)
  const refusedMB = (await residentMB()) - before
  const sockets = await Promise.all(Array.from({ length: unfinishedCount }, () => unfinished(new URL(url))))
  const unfinishedMB = (await residentMB()) - before
  for (const socket of sockets) socket.destroy()
  await served.end()
  await database.drop()
  return { ms: { [plain]: plainMs, [keyless]: keylessMs, [keyed]: keyedMs }, refusedMB, unfinishedMB }
}

/** Announces a body of 15 MiB, sends most of it as long as the server reads, and never the last byte. */
async function unfinished({ hostname, port }: URL): Promise<Socket> {
  const socket = connectSocket(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  const length = 15 * 1024 * 1024
  socket.write(
    `POST /v1/signals/deliver HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
  )
  socket.write(' '.repeat(1024 * 1024))
  await once(socket, 'data')
  return socket
}
