// One hop at a time through an idle process: from the completion of a member to the claim of the member that waits for
// it.
import { startChild } from '../child.ts'
import type { HopInput, Hops } from '../flow/hop.child.ts'
import { percentile } from '../median.ts'
import type { Scenario } from '../scenario.ts'
import { rowOf, summarise } from '../turn.ts'
import type { Turn } from '../turn.ts'

const count = 300
const baseline = 'single-row commit'
const plain = 'complete, then claim what is ready'
const hop = 'complete, then claim what came after it'

export const flowHop: Scenario = {
  name: 'flow-hop',
  title: 'what a hop of a flow adds at idle, p50',
  async run(bench) {
    const names = [baseline, plain, hop]
    const turns = new Map<string, Turn[]>(names.map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const database = await bench.server.createDatabase()
      const input: HopInput = { url: database.url, count }
      const child = await startChild<Hops>(bench.node, new URL('../flow/hop.child.ts', import.meta.url), input)
      await bench.server.checkpoint()
      const { commitMs, plainMs, hopMs } = await child.tell('go')
      await child.end()
      await database.drop()
      const probeValue = percentile(commitMs, 0.5)
      for (const [name, ms] of [
        [baseline, commitMs],
        [plain, plainMs],
        [hop, hopMs],
      ] as const) {
        const figures = { p95: percentile(ms, 0.95), p99: percentile(ms, 0.99) }
        turns.get(name)!.push({ round, probeValue, value: percentile(ms, 0.5), figures })
      }
      bench.say(`round ${round}   ${summarise(turns, hop, round, 'ms')}`)
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline,
      rows: [
        rowOf(turns, baseline, [{ to: baseline }]),
        rowOf(turns, plain, [{ to: baseline }]),
        rowOf(turns, hop, [{ to: baseline }, { to: plain }]),
      ],
      notes: [
        'a hop is one more commit, that of the resolver, between the completion and the claim',
        'single-row commit: one prepared insert into a bare table, beside each hop',
      ],
    }
  },
}
