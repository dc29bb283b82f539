// One at a time through idle processes: from the submission in one to the handler's start in another. A contestant
// without a wake-up waits for its own poll.
import { setTimeout } from 'node:timers/promises'
import { percentile } from '../median.ts'
import type { PeerName } from '../peers/peer.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { Traffic } from '../traffic/traffic.ts'
import { noiseOf, rotate, rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

/** How many pings in a round: fewer for contestants that only poll. */
const pingCounts: Partial<Record<PeerName, number>> = {
  'raw queue': 200,
  FlowFabric: 200,
  'FlowFabric, worker': 200,
  'Graphile Worker': 200,
  'Graphile Worker, tuned': 200,
  'pg-boss': 5,
  'pg-boss, notifying': 200,
  DBOS: 10,
  'DBOS, tuned': 200,
  Absurd: 20,
  'Absurd, tuned': 200,
  BullMQ: 200,
}
const probeCount = 100
const warmUpShare = 0.1

const bar: Bar = { direction: 'at most', must: 2, aim: 1.3 }

export const latency: Scenario = {
  name: 'latency',
  title: 'idle submit to handler start, two processes, p50',
  hasPeers: true,
  async run(bench) {
    const names = (Object.keys(pingCounts) as PeerName[]).filter((name) => bench.takesPart(name))
    const turns = new Map<string, Turn[]>(names.map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      bench.say(`round ${round}`)
      const probe = await Traffic.open(bench, 'raw queue')
      await probe.start()
      for (const name of rotate(names, round)) {
        const traffic = await Traffic.open(bench, name)
        await traffic.start()
        const probeMs = await pings(probe, probeCount)
        const ms = await pings(traffic, pingCounts[name]!)
        turns.get(name)!.push({
          round,
          value: percentile(ms, 0.5),
          probeValue: percentile(probeMs, 0.5),
          figures: { p95: percentile(ms, 0.95), p99: percentile(ms, 0.99) },
        })
        await traffic.close()
        bench.say(summarise(turns, name, round, 'ms'))
      }
      await probe.close()
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: 'raw queue',
      rows: names.map((name) =>
        rowOf(turns, name, [{ to: 'raw queue', ...(name.startsWith('FlowFabric') && { bar }) }]),
      ),
      notes: [
        'raw queue: one insert with NOTIFY, the wake-up, and one update of what skip locked finds',
        'FlowFabric waits in a bare claim; its worker is the one that users run, with the background duties beside it',
        ...bench.stores.absences,
        noiseOf(turns, 'raw queue'),
      ],
    }
  },
}

async function pings(traffic: Traffic, count: number): Promise<number[]> {
  const ms: number[] = []
  for (let sent = 0; sent < count * (1 + warmUpShare); sent++) {
    // Not in step with the poll of any contestant, and not before the last job is completed.
    await setTimeout(5 + Math.random() * 15)
    ms.push(await traffic.ping())
  }
  return ms.slice(-count)
}
