// A run of durable code starts from the top whenever it resumes: the cost of a history of a thousand steps, next to
// only reading it.
import { startChild } from '../child.ts'
import type { HistoryInput, HistoryTimes } from '../durable/history.child.ts'
import { percentile } from '../median.ts'
import type { Bar, Scenario } from '../scenario.ts'
import { rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const stepCount = 1000
const count = 50
const baseline = 'read the history'
const again = 'claim, run the code to where it waits, suspend'
const bar: Bar = { direction: 'at most', must: 3, aim: 2 }

export const history: Scenario = {
  name: 'history',
  title: 'code with a thousand recorded steps is run once more, p50',
  async run(bench) {
    const turns = new Map<string, Turn[]>([baseline, again].map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const database = await bench.server.createDatabase()
      const input: HistoryInput = { url: database.url, stepCount, count }
      const file = new URL('../durable/history.child.ts', import.meta.url)
      const child = await startChild<HistoryTimes>(bench.node, file, input)
      const { readMs, runMs } = await child.tell('go')
      await child.end()
      await database.drop()
      const probeValue = percentile(readMs, 0.5)
      turns.get(baseline)!.push({ round, probeValue, value: probeValue })
      turns.get(again)!.push({ round, probeValue, value: percentile(runMs, 0.5) })
      bench.say(`round ${round}   ${summarise(turns, again, round, 'ms')}`)
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline,
      rows: [rowOf(turns, baseline, [{ to: baseline }]), rowOf(turns, again, [{ to: baseline, bar }])],
      notes: ['reading is one page of a thousand steps; the run reads the same and writes its next wait'],
    }
  },
}
