// Several worker processes empty one lane. They must not block each other; more than the machine's cores cannot make it
// faster.
import { rangeOf } from '../median.ts'
import type { PeerName } from '../peers/peer.ts'
import type { Bench, Scenario } from '../scenario.ts'
import { Traffic } from '../traffic/traffic.ts'
import { rotate, rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const names: readonly PeerName[] = ['raw queue', 'FlowFabric', 'Graphile Worker, tuned']
const workerCounts = [1, 2, 4, 8]
const count = 40_000
const warmUpCount = 8000

interface Fleet {
  readonly label: string
  readonly name: PeerName
  readonly workerCount: number
}

export const workers: Scenario = {
  name: 'workers',
  title: 'drain of 40,000 no-ops from one lane by one, two, four and eight worker processes',
  hasPeers: true,
  async run(bench) {
    const fleets = names
      .filter((name) => bench.takesPart(name))
      .flatMap((name) => workerCounts.map((workerCount) => ({ label: labelOf(name, workerCount), name, workerCount })))
    const turns = new Map<string, Turn[]>(fleets.map(({ label }) => [label, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      bench.say(`round ${round}`)
      for (const fleet of rotate(fleets, round)) {
        const probeValue = await drainRate(bench, { label: 'probe', name: 'raw queue', workerCount: 1 })
        turns.get(fleet.label)!.push({ round, value: await drainRate(bench, fleet), probeValue })
        bench.say(summarise(turns, fleet.label, round, '/s'))
      }
    }
    const baseline = labelOf('FlowFabric', 1)
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline,
      rows: fleets.map(({ label, name }) =>
        rowOf(turns, label, [{ to: labelOf(name, 1) }, ...(name === 'FlowFabric' ? [] : [{ to: baseline }])]),
      ),
      notes: ['from the first handler of any process to the last of all'],
    }
  },
}

function labelOf(name: PeerName, workerCount: number): string {
  return `${name}, ${workerCount} ${workerCount === 1 ? 'worker' : 'workers'}`
}

async function drainRate(bench: Bench, { name, workerCount }: Fleet): Promise<number> {
  const traffic = await Traffic.open(bench, name, workerCount)
  await drain(traffic, warmUpCount)
  const rate = await drain(traffic, count)
  await traffic.close()
  return rate
}

async function drain(traffic: Traffic, count: number): Promise<number> {
  await traffic.submit({ act: 'load', count })
  await traffic.start()
  const reports = await traffic.handled(count)
  await traffic.stop()
  const [first, last] = rangeOf(reports.flatMap(({ handled }) => handled.map(([, atMs]) => atMs)))
  return (count * 1000) / (last - first)
}
