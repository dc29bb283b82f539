// One worker process empties a full queue of no-ops. FlowFabric keeps the whole history of each, as DBOS and Absurd do;
// Graphile Worker deletes finished jobs, and so does BullMQ, tuned.
import { checkEnd } from '../drain/check-end.ts'
import { holdDrains } from '../drain/hold-drains.ts'
import type { Drainer } from '../drain/hold-drains.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { noiseOf, rowOf, type Comparison } from '../turn.ts'

const count = 20_000

const drainers: readonly Drainer[] = [
  { name: 'raw queue' },
  { name: 'FlowFabric', checkEnd },
  { name: 'FlowFabric, worker', checkEnd },
  { name: 'Graphile Worker', count: 2000 },
  { name: 'Graphile Worker, tuned' },
  // One job every two seconds.
  { name: 'pg-boss', count: 5 },
  { name: 'pg-boss, tuned' },
  { name: 'DBOS', count: 2000 },
  { name: 'DBOS, tuned', count: 4000 },
  { name: 'Absurd', count: 1000 },
  { name: 'Absurd, tuned', count: 4000 },
  { name: 'BullMQ', count: 5000 },
  { name: 'BullMQ, tuned' },
]

const bars: Readonly<Record<string, Bar>> = {
  'Graphile Worker, tuned': { direction: 'at least', must: 0.6, aim: 1 },
  'DBOS, tuned': { direction: 'at least', must: 10 },
  'Absurd, tuned': { direction: 'at least', must: 10 },
  'raw queue': { direction: 'at least', aim: 0.6 },
}

export const drain: Scenario = {
  name: 'drain',
  title: 'drain of 20,000 no-ops by one worker process',
  hasPeers: true,
  async run(bench) {
    const turns = await holdDrains(bench, count, drainers)
    const held = Object.entries(bars).flatMap(([to, bar]) => (turns.has(to) ? [{ to, bar }] : []))
    const comparisons: Readonly<Record<string, readonly Comparison[]>> = {
      FlowFabric: held,
      'FlowFabric, worker': [...held, { to: 'FlowFabric' }],
    }
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: 'raw queue',
      rows: [...turns.keys()].map((name) => rowOf(turns, name, comparisons[name] ?? [{ to: 'raw queue' }])),
      notes: [
        'raw queue: sets of 500 taken with skip locked and marked as done, one after the other',
        'FlowFabric is a bare loop of claims and completions; its worker, as users run it, a hundred at a time',
        'slow systems drain fewer than 20,000; rates are compared',
        'each end state was checked: every execution ended once, with one attempt, one lease and one completion event',
        ...bench.stores.absences,
        noiseOf(turns, 'raw queue'),
      ],
    }
  },
}
