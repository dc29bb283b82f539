// A claim must cost the same out of a million as out of a thousand.
import { compareClaims } from '../claim/claim-pair.ts'
import type { Scenario } from '../scenario.ts'

const lanes = Array.from({ length: 10 }, (_, index) => `lane-${index}`)

export const claimBacklog: Scenario = {
  name: 'claim-backlog',
  title: 'claim of 50 out of a million waiting in 10 lanes, against one out of a thousand',
  async run(bench) {
    const databases = [await bench.server.createDatabase(), await bench.server.createDatabase()] as const
    const { rows: count } = bench.settings
    const baseline = 'out of 1,000'
    const rows = await compareClaims(
      bench,
      { name: baseline, url: databases[0].url, lanes, count: 1000 },
      { name: `out of ${count.toLocaleString('en')}`, url: databases[1].url, lanes, count },
    )
    for (const database of databases) await database.drop()
    return { name: this.name, title: this.title, unit: 'ms', baseline, rows, notes: [] }
  },
}
