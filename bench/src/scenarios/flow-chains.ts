// Members that wait for one another, ten in a row, against as many executions that wait for nothing.
import { holdLaps } from '../flow/hold-laps.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { rowOf } from '../turn.ts'

const count = 10_000
const baseline = 'plain drain'
const chains = 'chains of 10'
const bar: Bar = { direction: 'at least', must: 0.4 }

export const flowChains: Scenario = {
  name: 'flow-chains',
  title: '10,000 members in chains of ten, by one worker process',
  async run(bench) {
    const turns = await holdLaps(bench, {
      probe: 'plain',
      probeCount: count,
      laps: { [baseline]: { act: 'plain', count }, [chains]: { act: 'chains', count } },
      isDrain: true,
    })
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline,
      rows: [rowOf(turns, baseline, [{ to: baseline }]), rowOf(turns, chains, [{ to: baseline, bar }])],
      notes: [
        'plain drain: what a worker claims and completes',
        'chains of 10: a thousand flows; each member is made ready by the ending of the one before it',
        'each end state was checked: every execution ended once, with one attempt, one lease and one completion event',
      ],
    }
  },
}
