// Sleeping executions occupy no worker: the heap of a worker process that has put ever more executions to sleep.
import { startChild } from '../child.ts'
import type { SleepingInput } from '../durable/sleeping.child.ts'
import { inUnit } from '../report/unit.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { rowOf } from '../turn.ts'
import type { Turn } from '../turn.ts'

const few = 5000
const baseline = 'a few asleep'
const bar: Bar = { direction: 'at most', must: 1.2, aim: 1.05 }

export const sleeping: Scenario = {
  name: 'sleeping',
  title: 'heap of a worker process, by how many of its executions sleep',
  async run(bench) {
    // A tenth of the rows of the other scenarios: 100,000 by default.
    const many = Math.round(bench.settings.rows / 10)
    const ours = `${many.toLocaleString('en')} asleep`
    const turns = new Map<string, Turn[]>([baseline, ours].map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const database = await bench.server.createDatabase()
      const input: SleepingInput = { url: database.url }
      const file = new URL('../durable/sleeping.child.ts', import.meta.url)
      const child = await startChild<number, number>(bench.node, file, input)
      const before = (await child.tell(few)) / 1e6
      const after = (await child.tell(many - few)) / 1e6
      await child.end()
      await database.drop()
      turns.get(baseline)!.push({ round, probeValue: before, value: before })
      turns.get(ours)!.push({ round, probeValue: before, value: after })
      bench.say(`round ${round}   ${inUnit(before, 'MB')}, ${inUnit(after, 'MB')}`)
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'MB',
      baseline,
      rows: [rowOf(turns, baseline, [{ to: baseline }]), rowOf(turns, ours, [{ to: baseline, bar }])],
      notes: [`a few: ${few}, after which everything is loaded and compiled`, 'the heap in use after a collection'],
    }
  },
}
