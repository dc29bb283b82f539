import { hold } from '../contest.ts'
import { fastest, noiseOf, rowOf } from '../turn.ts'
import type { Scenario } from '../scenario.ts'

export const createBatch: Scenario = {
  name: 'create-batch',
  title: 'create in batches of 1,000, one after another, 20,000 in each round',
  async run(bench) {
    const turns = await hold(bench, 'create-batch', ['raw insert', 'FlowFabric', 'pg-boss', 'pg-boss, tuned'])
    const rival = fastest(turns, ['pg-boss', 'pg-boss, tuned'])
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: 'raw insert',
      rows: [
        rowOf(turns, 'raw insert', [{ to: 'raw insert' }]),
        rowOf(turns, 'FlowFabric', [
          { to: rival, bar: { direction: 'at least', must: 0.6, aim: 1 } },
          { to: 'raw insert' },
        ]),
        rowOf(turns, 'pg-boss', [{ to: 'raw insert' }]),
        rowOf(turns, 'pg-boss, tuned', [{ to: 'raw insert' }]),
      ],
      notes: [
        'raw insert: one prepared insert from unnest for each batch. FlowFabric is held against whichever pg-boss was faster.',
        noiseOf(turns, 'raw insert'),
      ],
    }
  },
}
