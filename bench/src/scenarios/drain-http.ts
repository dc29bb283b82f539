// A worker that reaches the database through a server, in a process of its own, next to one that opens it itself: as a
// bare loop over sets, and as users run it.
import { holdDrains } from '../drain/hold-drains.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { noiseOf, rowOf } from '../turn.ts'

const count = 20_000
const bar: Bar = { direction: 'at least', must: 0.5 }

export const drainHttp: Scenario = {
  name: 'drain-http',
  title: 'drain of 20,000 no-ops by one worker process, through a server',
  async run(bench) {
    const names = ['FlowFabric', 'FlowFabric, over HTTP', 'FlowFabric, worker', 'FlowFabric, worker over HTTP'] as const
    const turns = await holdDrains(bench, count, [{ name: 'raw queue' }, ...names.map((name) => ({ name }))])
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: 'FlowFabric',
      rows: [
        rowOf(turns, 'raw queue', []),
        rowOf(turns, 'FlowFabric', []),
        rowOf(turns, 'FlowFabric, over HTTP', [{ to: 'FlowFabric', bar }]),
        rowOf(turns, 'FlowFabric, worker', []),
        rowOf(turns, 'FlowFabric, worker over HTTP', [{ to: 'FlowFabric, worker', bar }]),
      ],
      notes: ['server, worker and Postgres share the machine', noiseOf(turns, 'raw queue')],
    }
  },
}
