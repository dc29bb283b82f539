// The same work for several peers, in short laps that take turns: every contestant is ready, and right before each lap
// the raw probe runs one. The raw insert is a contestant too, with the same breaks as the others: the probe runs more
// often than any contestant and was faster (measured: by a seventh), so no contestant is compared with the probe
// itself.
import type { ContestantInput, Lap, WorkName } from './contestant.child.ts'
import { startChild } from './child.ts'
import type { CreatingName } from './peers/peer.ts'
import type { Bench } from './scenario.ts'
import { rotate, summarise } from './turn.ts'
import type { Turn, Turns } from './turn.ts'

const lapsInRound = 5

export async function hold(bench: Bench, work: WorkName, entrants: readonly CreatingName[]): Promise<Turns> {
  const peers = entrants.filter((peer) => bench.takesPart(peer))
  const turns = new Map<string, Turn[]>(peers.map((peer) => [peer, []]))
  for (let round = 1; round <= bench.settings.rounds; round++) {
    bench.say(`round ${round}`)
    const probe = await enter(bench, work, 'raw insert')
    const contestants: Contestant[] = []
    for (const peer of peers) contestants.push(await enter(bench, work, peer))
    // Once, for all: no contestant pays for the pages that the start made dirty.
    await bench.server.checkpoint()
    for (let lap = 1; lap <= lapsInRound; lap++) {
      for (const contestant of rotate(contestants, lap)) {
        const { value: probeValue } = await probe.run()
        turns.get(contestant.peer)!.push({ round, probeValue, ...(await contestant.run()) })
      }
    }
    for (const contestant of [probe, ...contestants]) await contestant.leave()
    for (const peer of peers) bench.say(summarise(turns, peer, round, '/s'))
  }
  return turns
}

interface Contestant {
  readonly peer: CreatingName
  run(): Promise<Pick<Turn, 'value' | 'logBytes'>>
  leave(): Promise<void>
}

async function enter({ stores, server, node }: Bench, work: WorkName, peer: CreatingName): Promise<Contestant> {
  const database = await stores.createDatabase(peer)
  const input: ContestantInput = { peer, work, url: database.url }
  const child = await startChild<Lap>(node, new URL('./contestant.child.ts', import.meta.url), input)
  return {
    peer,
    async run() {
      const before = await server.logPosition()
      const { count, ms, writtenCount } = await child.tell('go')
      const logBytes = ((await server.logPosition()) - before) / writtenCount
      return { value: (count * 1000) / ms, ...(database.isOnServer && { logBytes }) }
    },
    async leave() {
      await child.end()
      await database.drop()
    },
  }
}
