// One member frees many, and one waits for them all. What each costs must not grow with their number.
import { holdLaps } from '../flow/hold-laps.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { rowOf } from '../turn.ts'

const baseline = 'plain drain'
const bar: Bar = { direction: 'at least', must: 0.7 }
const [hundred, thousand, tenThousand] = ['100 and a join', '1,000 and a join', '10,000 and a join'] as const

export const flowFan: Scenario = {
  name: 'flow-fan',
  title: 'fan-out of 100, 1,000 and 10,000 members and a join, by one worker process',
  async run(bench) {
    const turns = await holdLaps(bench, {
      probe: 'plain',
      probeCount: 10_000,
      laps: {
        [baseline]: { act: 'plain', count: 10_000 },
        [hundred]: { act: 'fan', count: 102 },
        [thousand]: { act: 'fan', count: 1002 },
        [tenThousand]: { act: 'fan', count: 10_002 },
      },
      isDrain: true,
    })
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline,
      rows: [
        rowOf(turns, baseline, [{ to: baseline }]),
        rowOf(turns, hundred, [{ to: baseline }]),
        rowOf(turns, thousand, [{ to: baseline }]),
        rowOf(turns, tenThousand, [{ to: baseline }, { to: hundred, bar }, { to: thousand, bar }]),
      ],
      notes: [
        'members in a second, from the start of the first to the end of the last',
        'near linear growth is a rate that does not fall from row to row',
      ],
    }
  },
}
