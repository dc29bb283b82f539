// One wait at a time, against the commit of a single row: in durable code, from `ctx.waitFor` over the signal to the
// code after it; and by calls of the engine, from the suspend over the signal to the claim.
import { startChild } from '../child.ts'
import { median, percentile } from '../median.ts'
import type { Bar, Scenario } from '../scenario.ts'
import type { RoundTripInput, RoundTrips } from '../suspend/round-trip.child.ts'
import type { Answering, DurableTripInput, DurableTrips } from '../suspend/durable-trip.child.ts'
import { rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const count = 300
const baseline = 'single-row commit'
const trip = 'suspend, signal, claim'
const bar: Bar = { direction: 'at most', must: 8, aim: 5 }

const durable = {
  'ctx.waitFor, run.signal': 'name',
  'ctx.waitpoint, its token': 'token',
} as const satisfies Record<string, Answering>
const durableNames = Object.keys(durable) as (keyof typeof durable)[]

export const suspendLatency: Scenario = {
  name: 'suspend-latency',
  title: 'wait, signal and resume, one at a time, p50',
  async run(bench) {
    const names = [...durableNames, trip]
    const turns = new Map<string, Turn[]>([baseline, ...names].map((name) => [name, []]))
    const costs = new Map<string, DurableTrips[]>(durableNames.map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const add = (name: string, { commitMs, tripMs }: RoundTrips, isBaseline: boolean): void => {
        const probeValue = percentile(commitMs, 0.5)
        if (isBaseline) turns.get(baseline)!.push(turnOf(round, probeValue, commitMs))
        turns.get(name)!.push(turnOf(round, probeValue, tripMs))
        bench.say(`round ${round}   ${summarise(turns, name, round, 'ms')}`)
      }
      const database = await bench.server.createDatabase()
      const durableInput: DurableTripInput = { url: database.url, count }
      const durableFile = new URL('../suspend/durable-trip.child.ts', import.meta.url)
      const durableChild = await startChild<DurableTrips, Answering>(bench.node, durableFile, durableInput)
      for (const name of durableNames) {
        await bench.server.checkpoint()
        const trips = await durableChild.tell(durable[name])
        costs.get(name)!.push(trips)
        add(name, trips, false)
      }
      await durableChild.end()
      await database.drop()
      const bare = await bench.server.createDatabase()
      const input: RoundTripInput = { url: bare.url, count }
      const file = new URL('../suspend/round-trip.child.ts', import.meta.url)
      const child = await startChild<RoundTrips>(bench.node, file, input)
      await bench.server.checkpoint()
      add(trip, await child.tell('go'), true)
      await child.end()
      await bare.drop()
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline,
      rows: [
        rowOf(turns, baseline, [{ to: baseline }]),
        ...names.map((name) => rowOf(turns, name, [{ to: baseline, bar }])),
      ],
      notes: [
        'single-row commit: one prepared insert into a bare table, beside each round trip',
        'ctx.waitFor, run.signal: suspended by the worker, signalled by name, claimed, history read, the answer recorded',
        'ctx.waitpoint, its token: the same, with a waitpoint made before the wait, answered by its token',
        ...durableNames.map((name) => costOf(name, costs.get(name)!)),
      ],
    }
  },
}

function turnOf(round: number, probeValue: number, ms: readonly number[]): Turn {
  const figures = { p95: percentile(ms, 0.95), p99: percentile(ms, 0.99) }
  return { round, probeValue, value: percentile(ms, 0.5), figures }
}

/** Of the whole life of an execution. */
function costOf(name: string, trips: readonly DurableTrips[]): string {
  const of = (figure: 'statements' | 'postgresMs' | 'nodeMs'): string =>
    median(trips.map((one) => one[figure])).toFixed(figure === 'statements' ? 1 : 2)
  const processor = `${of('postgresMs')} ms of Postgres and ${of('nodeMs')} ms of Node`
  return `${name}, from submit to end: ${of('statements')} statements, ${processor} (processor time)`
}
