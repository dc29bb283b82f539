// One wait at a time: from the suspend over the signal to the claim that goes on, against the commit of a single row.
import { startChild } from '../child.ts'
import { percentile } from '../median.ts'
import type { Bar, Scenario } from '../scenario.ts'
import type { RoundTripInput, RoundTrips } from '../suspend/round-trip.child.ts'
import { rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const count = 300
const baseline = 'single-row commit'
const trip = 'suspend, signal, claim'
const bar: Bar = { direction: 'at most', must: 8 }

export const suspendLatency: Scenario = {
  name: 'suspend-latency',
  title: 'suspend, signal and claim again, one at a time, p50',
  async run(bench) {
    const turns = new Map<string, Turn[]>([
      [baseline, []],
      [trip, []],
    ])
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const database = await bench.server.createDatabase()
      const input: RoundTripInput = { url: database.url, count }
      const file = new URL('../suspend/round-trip.child.ts', import.meta.url)
      const child = await startChild<RoundTrips>(bench.node, file, input)
      await bench.server.checkpoint()
      const { commitMs, tripMs } = await child.tell('go')
      await child.end()
      await database.drop()
      const probeValue = percentile(commitMs, 0.5)
      for (const [name, ms] of [
        [baseline, commitMs],
        [trip, tripMs],
      ] as const) {
        const figures = { p95: percentile(ms, 0.95), p99: percentile(ms, 0.99) }
        turns.get(name)!.push({ round, probeValue, value: percentile(ms, 0.5), figures })
      }
      bench.say(`round ${round}   ${summarise(turns, trip, round, 'ms')}`)
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline,
      rows: [rowOf(turns, baseline, [{ to: baseline }]), rowOf(turns, trip, [{ to: baseline, bar }])],
      notes: ['single-row commit: one prepared insert into a bare table, beside each round trip'],
    }
  },
}
