// Sixteen callers of one process, each waiting for its commit. The raw insert is one commit for each; FlowFabric may put
// several callers' rows into one commit, which is why it can be faster than the raw insert.
import { hold } from '../contest.ts'
import type { Scenario } from '../scenario.ts'
import { noiseOf, rowOf } from '../turn.ts'

export const createOne: Scenario = {
  name: 'create-one',
  title: 'create one by one, 16 concurrent submitters in one process',
  hasPeers: true,
  async run(bench) {
    const baseline = 'raw insert'
    const turns = await hold(bench, 'create-one', [
      baseline,
      'FlowFabric',
      'Graphile Worker',
      'pg-boss',
      'pg-boss, tuned',
      'DBOS',
      'DBOS, tuned',
      'Absurd, tuned',
      'BullMQ',
    ])
    const bar = { direction: 'at least', must: 1, aim: 2 } as const
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline,
      rows: [...turns.keys()].map((name) =>
        rowOf(turns, name, [{ to: baseline, ...(name === 'FlowFabric' && { bar }) }]),
      ),
      notes: [
        'raw insert: one prepared single-row insert for each, 16 connections',
        ...bench.stores.absences,
        noiseOf(turns, baseline),
      ],
    }
  },
}
