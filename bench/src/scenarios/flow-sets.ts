// A whole graph in one call, and the cancel of a whole flow, against the same number of executions in sets.
import { holdLaps } from '../flow/hold-laps.ts'
import type { Scenario } from '../scenario.ts'
import { rowOf } from '../turn.ts'

const created = 'create of 1,000 in sets'
const submitted = 'submit of a graph of 1,000'
const cancelled = 'cancel of 10,000 in sets'
const flowCancelled = 'cancel of a flow of 10,000'

export const flowSets: Scenario = {
  name: 'flow-sets',
  title: 'a graph submitted and a flow cancelled in one call, against executions in sets',
  async run(bench) {
    const turns = await holdLaps(bench, {
      probe: 'create',
      probeCount: 1000,
      laps: {
        [created]: { act: 'create', count: 1000 },
        [submitted]: { act: 'submit', count: 1000 },
        [cancelled]: { act: 'cancelEach', count: 10_000 },
        [flowCancelled]: { act: 'cancelFlow', count: 10_000 },
      },
      isDrain: false,
    })
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: created,
      rows: [
        rowOf(turns, created, [{ to: created }]),
        rowOf(turns, submitted, [{ to: created }]),
        rowOf(turns, cancelled, [{ to: cancelled }]),
        rowOf(turns, flowCancelled, [{ to: cancelled }]),
      ],
      notes: [
        'the graph is a chain, and comes with 999 edges; it is one statement',
        'the cancel of a flow is measured until its last member has ended, been counted, and the flow with it',
      ],
    }
  },
}
