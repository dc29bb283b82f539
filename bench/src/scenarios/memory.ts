// The memory of a worker process after it has drained a full queue. FlowFabric's is the worker as users run it, a
// hundred at a time.
import type { PeerName } from '../peers/peer.ts'
import { inUnit } from '../report/unit.ts'
import type { Bar, Bench, Scenario } from '../scenario.ts'
import { Traffic } from '../traffic/traffic.ts'
import { rowOf } from '../turn.ts'
import type { Turn } from '../turn.ts'

const counts: Partial<Record<PeerName, number>> = {
  'raw queue': 20_000,
  'FlowFabric, worker': 20_000,
  'Graphile Worker, tuned': 20_000,
  'pg-boss, tuned': 20_000,
  'DBOS, tuned': 4000,
  'Absurd, tuned': 4000,
  'BullMQ, tuned': 20_000,
}

const budgetMB = 120
const budget = `${budgetMB} MB`
const bar: Bar = { direction: 'at most', must: 1, aim: 0.75 }

export const memory: Scenario = {
  name: 'memory',
  title: 'resident memory of a worker process after a drain',
  hasPeers: true,
  async run(bench) {
    const names = (Object.keys(counts) as PeerName[]).filter((name) => bench.takesPart(name))
    const turns = new Map<string, Turn[]>([[budget, []], ...names.map((name): [string, Turn[]] => [name, []])])
    for (let round = 1; round <= bench.settings.rounds; round++) {
      bench.say(`round ${round}`)
      turns.get(budget)!.push({ round, value: budgetMB, probeValue: budgetMB })
      for (const name of names) {
        const value = await residentMB(bench, name, counts[name]!)
        turns.get(name)!.push({ round, value, probeValue: budgetMB })
        bench.say(`${name} ${inUnit(value, 'MB')}`)
      }
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'MB',
      baseline: budget,
      rows: names.map((name) => rowOf(turns, name, [{ to: budget, ...(name === 'FlowFabric, worker' && { bar }) }])),
      notes: [
        'resident memory of the whole process right after the drain of 20,000, a third of which an empty process of this Node holds too: its program is counted in',
        'most of the rest is the young generation, which V8 makes larger the longer a process is busy, and does not give back; `node --max-semi-space-size=4` keeps it small',
        ...bench.stores.absences,
      ],
    }
  },
}

async function residentMB(bench: Bench, name: PeerName, count: number): Promise<number> {
  const traffic = await Traffic.open(bench, name)
  await traffic.submit({ act: 'load', count })
  await traffic.start()
  await traffic.untilHandled(count)
  const residentBytes = await traffic.residentBytes()
  await traffic.close()
  return residentBytes / 1e6
}
