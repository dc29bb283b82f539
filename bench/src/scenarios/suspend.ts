// Executions that wait in between, many at a time: suspended, signalled by their tokens and resumed, against the same
// executions without a wait; and executions that receive no signal.
import { startChild } from '../child.ts'
import type { Bar, Scenario } from '../scenario.ts'
import type { SuspendInput, SuspendOrder } from '../suspend/suspend.child.ts'
import { rotate, rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const count = 10_000
const baseline = 'plain drain'
const bar: Bar = { direction: 'at least', must: 0.25 }

const acts = {
  [baseline]: 'plain',
  'suspended, signalled, resumed': 'signalled',
  'timed out': 'timedOut',
} as const satisfies Record<string, SuspendOrder['act']>

export const suspend: Scenario = {
  name: 'suspend',
  title: '10,000 executions that wait for a signal each',
  async run(bench) {
    const names = Object.keys(acts) as (keyof typeof acts)[]
    const turns = new Map<string, Turn[]>(names.map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      bench.say(`round ${round}`)
      const database = await bench.server.createDatabase()
      const input: SuspendInput = { url: database.url, warmUpCount: 1000 }
      const file = new URL('../suspend/suspend.child.ts', import.meta.url)
      const child = await startChild<{ ms: number }, SuspendOrder>(bench.node, file, input)
      const rateOf = async (act: SuspendOrder['act']): Promise<number> => {
        await bench.server.checkpoint()
        return (count * 1000) / (await child.tell({ act, count })).ms
      }
      for (const name of rotate(names, round)) {
        const probeValue = await rateOf('plain')
        turns.get(name)!.push({ round, probeValue, value: await rateOf(acts[name]) })
        bench.say(summarise(turns, name, round, '/s'))
      }
      await child.end()
      await database.drop()
    }
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline,
      rows: names.map((name) => rowOf(turns, name, [{ to: baseline, ...(acts[name] === 'signalled' && { bar }) }])),
      notes: [
        'plain drain: what a worker claims and completes',
        'suspended, signalled, resumed: all are held, then suspended, then answered by their tokens, then claimed again and completed',
        'timed out: all have run out of time and are swept in sets of a thousand',
      ],
    }
  },
}
