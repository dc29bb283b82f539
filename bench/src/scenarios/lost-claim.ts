// A claim succeeds and its reply is lost with the connection. The worker is idle, its leases last 30 s: it must release
// the unknown leases within a second.
import { startChild } from '../child.ts'
import type { LostClaimInput, LostClaimOutput } from '../claim/lost-claim.child.ts'
import { median, rangeOf } from '../median.ts'
import type { ReportRow, Scenario } from '../scenario.ts'

const count = 10
const lateMs = 1000
const names = { 'over Postgres': 'FlowFabric', 'over HTTP': 'FlowFabric, worker over HTTP' } as const
const baseline = 'over Postgres'

export const lostClaim: Scenario = {
  name: 'lost-claim',
  title: 'from a lost reply to a claim to the start of the handler, by an idle worker, lease of 30 s',
  async run(bench) {
    const measured = new Map<string, number[][]>()
    for (const [label, name] of Object.entries(names)) {
      const database = await bench.stores.createDatabase(name)
      const input: LostClaimInput = { url: database.url, count }
      const file = new URL('../claim/lost-claim.child.ts', import.meta.url)
      const child = await startChild<LostClaimOutput>(bench.node, file, input)
      const rounds: number[][] = []
      for (let round = 1; round <= bench.settings.rounds; round++) rounds.push([...(await child.tell('go'))])
      await child.end()
      await database.drop()
      measured.set(label, rounds)
      bench.say(`${label}: ${lateIn(rounds)}`)
    }
    const base = measured.get(baseline)!
    const rows = [...measured].map(([label, rounds]): ReportRow => {
      const ratios = rounds.map((ms, round) => median(ms) / median(base[round]!))
      return {
        label,
        value: median(rounds.flat()),
        figures: { worst: rangeOf(rounds.flat())[1] },
        ratios: [{ to: baseline, value: median(ratios), range: rangeOf(ratios) }],
      }
    })
    const notes = [...measured].map(([label, rounds]) => `${label}: ${lateIn(rounds)}`)
    return { name: this.name, title: this.title, unit: 'ms', baseline, rows, notes }
  },
}

function lateIn(rounds: readonly (readonly number[])[]): string {
  const ms = rounds.flat()
  return `${ms.filter((each) => each > lateMs).length} of ${ms.length} took longer than a second`
}
