// All contestants drain the same load in turns, each from a fresh database and in a process of its own; right before,
// the raw probe drains as much.
import { startChild } from '../child.ts'
import type { PeerName } from '../peers/peer.ts'
import type { Bench } from '../scenario.ts'
import { rotate, summarise } from '../turn.ts'
import type { Turn, Turns } from '../turn.ts'
import type { DrainInput, DrainOrder } from './drain.child.ts'
import type { Drained } from './drain.ts'

export interface Drainer {
  readonly name: PeerName
  /** For a contestant that is too slow for the whole load; rates are compared. */
  readonly count?: number
  /** Checks the database after a drain, and throws when it is not as expected. */
  readonly checkEnd?: (url: string) => Promise<void>
}

export async function holdDrains(bench: Bench, count: number, entrants: readonly Drainer[]): Promise<Turns> {
  const drainers = entrants.filter(({ name }) => bench.takesPart(name))
  const turns = new Map<string, Turn[]>(drainers.map(({ name }) => [name, []]))
  for (let round = 1; round <= bench.settings.rounds; round++) {
    bench.say(`round ${round}`)
    const probe = await enter(bench, { name: 'raw queue' }, count)
    for (const drainer of rotate(drainers, round)) {
      const contestant = await enter(bench, drainer, count)
      await probe.load()
      await contestant.load()
      await bench.server.checkpoint()
      const { value: probeValue } = await probe.drain()
      turns.get(drainer.name)!.push({ round, probeValue, ...(await contestant.drain()) })
      bench.say(summarise(turns, drainer.name, round, '/s'))
      await contestant.leave()
    }
    await probe.leave()
  }
  return turns
}

async function enter({ stores, server, node }: Bench, drainer: Drainer, load: number) {
  const { name, count = load, checkEnd } = drainer
  const database = await stores.createDatabase(name)
  const input: DrainInput = { peer: name, url: database.url, warmUpCount: Math.min(3000, Math.ceil(count / 4)) }
  const child = await startChild<Drained, DrainOrder>(node, new URL('./drain.child.ts', import.meta.url), input)
  return {
    load: () => child.tell({ act: 'load', count }),
    async drain() {
      const before = await server.logPosition()
      const { ms } = await child.tell({ act: 'drain', count })
      const logBytes = ((await server.logPosition()) - before) / count
      return { value: (count * 1000) / ms, ...(database.isOnServer && { logBytes }) }
    },
    async leave() {
      await child.end()
      await checkEnd?.(database.url)
      await database.drop()
    },
  }
}
