import { hold } from '../contest.ts'
import type { CreatingName } from '../peers/peer.ts'
import type { Scenario } from '../scenario.ts'
import { fastest, noiseOf, rowOf } from '../turn.ts'

const pgBosses: readonly CreatingName[] = ['pg-boss', 'pg-boss, tuned']

export const createBatch: Scenario = {
  name: 'create-batch',
  title: 'create in batches of 1,000, one after another, 20,000 in each round',
  hasPeers: true,
  async run(bench) {
    const baseline = 'raw insert'
    const turns = await hold(bench, 'create-batch', [baseline, 'FlowFabric', 'Graphile Worker', ...pgBosses, 'BullMQ'])
    const rivals = pgBosses.filter((name) => turns.has(name))
    const bar = { direction: 'at least', must: 0.6, aim: 1 } as const
    const toRival = rivals.length === 0 ? [] : [{ to: fastest(turns, rivals), bar }]
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline,
      rows: [...turns.keys()].map((name) =>
        rowOf(turns, name, [...(name === 'FlowFabric' ? toRival : []), { to: baseline }]),
      ),
      notes: [
        'raw insert: one prepared insert from unnest for each batch. FlowFabric is held against whichever pg-boss was faster',
        'DBOS and Absurd have no call for more than one',
        ...bench.stores.absences,
        noiseOf(turns, baseline),
      ],
    }
  },
}
