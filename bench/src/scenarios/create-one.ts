// Sixteen callers of one process, each waiting for its commit. The raw insert is one commit for each; FlowFabric may put
// several callers' rows into one commit, which is why it can be faster than the raw insert.
import { hold, noiseOf, rowOf } from '../contest.ts'
import type { Scenario } from '../scenario.ts'

export const createOne: Scenario = {
  name: 'create-one',
  title: 'create one by one, 16 concurrent submitters in one process',
  async run(bench) {
    const turns = await hold(bench, 'create-one', ['raw', 'FlowFabric', 'pg-boss', 'pg-boss, tuned'])
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: 'raw',
      rows: [
        rowOf(turns, 'raw', [{ to: 'raw' }]),
        rowOf(turns, 'FlowFabric', [{ to: 'raw', bar: { direction: 'at least', must: 1, aim: 2 } }]),
        rowOf(turns, 'pg-boss', [{ to: 'raw' }]),
        rowOf(turns, 'pg-boss, tuned', [{ to: 'raw' }]),
      ],
      notes: ['raw: one prepared single-row insert for each, 16 connections.', noiseOf(turns)],
    }
  },
}
