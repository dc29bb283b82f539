// Sixteen callers of one process, each waiting for its commit. The raw insert is one commit for each; FlowFabric may put
// several callers' rows into one commit, which is why it can be faster than the raw insert.
import { hold } from '../contest.ts'
import { noiseOf, rowOf } from '../turn.ts'
import type { Scenario } from '../scenario.ts'

export const createOne: Scenario = {
  name: 'create-one',
  title: 'create one by one, 16 concurrent submitters in one process',
  async run(bench) {
    const turns = await hold(bench, 'create-one', ['raw insert', 'FlowFabric', 'pg-boss', 'pg-boss, tuned'])
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: 'raw insert',
      rows: [
        rowOf(turns, 'raw insert', [{ to: 'raw insert' }]),
        rowOf(turns, 'FlowFabric', [{ to: 'raw insert', bar: { direction: 'at least', must: 1, aim: 2 } }]),
        rowOf(turns, 'pg-boss', [{ to: 'raw insert' }]),
        rowOf(turns, 'pg-boss, tuned', [{ to: 'raw insert' }]),
      ],
      notes: ['raw insert: one prepared single-row insert for each, 16 connections.', noiseOf(turns, 'raw insert')],
    }
  },
}
