// Workflows of three durable steps, fifty at a time, by one worker process: the cost of a step.
import { checkEnd } from '../drain/check-end.ts'
import { holdDrains } from '../drain/hold-drains.ts'
import type { Drainer } from '../drain/hold-drains.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { noiseOf, rowOf } from '../turn.ts'

const count = 2000
const ours = 'FlowFabric, three steps'

const drainers: readonly Drainer[] = [
  { name: ours, checkEnd },
  { name: 'DBOS, three steps', count: 1000 },
  { name: 'Absurd, three steps', count: 1000 },
  { name: 'OpenWorkflow, three steps', count: 500 },
]

const bar: Bar = { direction: 'at least', must: 5, aim: 10 }

export const threeSteps: Scenario = {
  name: 'three-steps',
  title: 'workflows of three durable steps, fifty at a time, by one worker process',
  hasPeers: true,
  async run(bench) {
    const turns = await holdDrains(bench, count, drainers)
    const others = [...turns.keys()].filter((name) => name !== ours)
    const barOf = (to: string): { bar?: Bar } => (to.startsWith('OpenWorkflow') ? {} : { bar })
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: others[0] ?? ours,
      rows: [...turns.keys()].map((name) =>
        rowOf(turns, name, name === ours ? others.map((to) => ({ to, ...barOf(to) })) : []),
      ),
      notes: [
        'the raw queue, which has no steps, is the probe only',
        'slow systems run fewer; rates are compared',
        ...bench.stores.absences,
        noiseOf(turns, ours),
      ],
    }
  },
}
