// The same drain on the database in the process, which needs no server.
import { checkEnd } from '../drain/check-end.ts'
import { holdDrains } from '../drain/hold-drains.ts'
import type { Scenario } from '../scenario.ts'
import { noiseOf, rowOf } from '../turn.ts'

const count = 5000

export const drainEmbedded: Scenario = {
  name: 'drain-embedded',
  title: 'drain of 5,000 no-ops, embedded against Postgres',
  async run(bench) {
    const turns = await holdDrains(bench, count, [
      { name: 'raw queue' },
      { name: 'FlowFabric', checkEnd },
      { name: 'FlowFabric, embedded', checkEnd },
    ])
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: 'FlowFabric',
      rows: [
        rowOf(turns, 'FlowFabric', [{ to: 'FlowFabric' }]),
        rowOf(turns, 'FlowFabric, embedded', [
          { to: 'FlowFabric', bar: { direction: 'at least', must: 0.1, aim: 0.2 } },
        ]),
      ],
      notes: [
        'embedded: PGlite on a folder, in the process of the worker; it survives a killed process, not a power cut',
        noiseOf(turns, 'raw queue'),
      ],
    }
  },
}
