// A stream of single submissions by one process, drained by another. First each is measured by itself: as many as 64
// callers can submit, then their drain. A machine that does both does 1 / (1 / submitted + 1 / drained), the peak. Half
// of that is sent, evenly. The wait of each is measured from its due time to the start of its handler.
import { percentile, rangeOf } from '../median.ts'
import type { PeerName } from '../peers/peer.ts'
import { inUnit } from '../report/unit.ts'
import type { Bench, Scenario } from '../scenario.ts'
import type { Submitted } from '../traffic/sending.ts'
import { Traffic } from '../traffic/traffic.ts'
import { rotate, rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const names: readonly PeerName[] = [
  'raw queue',
  'FlowFabric',
  'Graphile Worker, tuned',
  'pg-boss, notifying',
  'DBOS, tuned',
  'Absurd, tuned',
  'BullMQ, tuned',
]

const floodMs = 1500
const paceMs = 4000
const probePaceMs = 1000
/** The processes start cold. */
const warmUpMs = 500

export const sustained: Scenario = {
  name: 'sustained',
  title: 'single submissions at half the peak rate, p50 from when each was due to its handler',
  hasPeers: true,
  async run(bench) {
    const present = names.filter((name) => bench.takesPart(name))
    const turns = new Map<string, Turn[]>(present.map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      bench.say(`round ${round}`)
      for (const name of rotate(present, round)) {
        const probe = await measure(bench, 'raw queue', probePaceMs)
        const { perSecond, ms } = await measure(bench, name, paceMs)
        turns.get(name)!.push({
          round,
          value: percentile(ms, 0.5),
          probeValue: percentile(probe.ms, 0.5),
          figures: { p95: percentile(ms, 0.95), p99: percentile(ms, 0.99) },
          perSecond,
        })
        bench.say(`${summarise(turns, name, round, 'ms')}, at ${inUnit(perSecond, '/s')}`)
      }
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: 'raw queue',
      rows: present.map((name) => rowOf(turns, name, [{ to: 'raw queue' }])),
      notes: [
        'each at half of its own peak; the loads differ, and are listed next to the times',
        ...bench.stores.absences,
      ],
    }
  },
}

interface Pace {
  readonly perSecond: number
  /** How long each waited for its handler. */
  readonly ms: readonly number[]
}

async function measure(bench: Bench, name: PeerName, forMs: number): Promise<Pace> {
  const traffic = await Traffic.open(bench, name)
  const cold = await traffic.submit({ act: 'flood', ms: warmUpMs })
  const flooded = await traffic.submit({ act: 'flood', ms: floodMs })
  await traffic.start()
  const [drained] = await traffic.handled(cold.length + flooded.length)
  const perSecond = 1 / (1 / rateOf(flooded) + 1 / rateOf(drained!.handled)) / 2
  const paced = await traffic.submit({ act: 'pace', ms: forMs, perSecond })
  const [worked] = await traffic.handled(cold.length + flooded.length + paced.length)
  await traffic.close()
  const dueAt = new Map(paced)
  const ms = worked!.handled.flatMap(([sequence, atMs]) => {
    const due = dueAt.get(sequence)
    return due === undefined ? [] : [atMs - due]
  })
  return { perSecond, ms }
}

function rateOf(times: Submitted): number {
  const [first, last] = rangeOf(times.map(([, atMs]) => atMs))
  return (times.length * 1000) / (last - first)
}
