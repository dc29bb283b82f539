// Claims of one that compete for as many executions as there are claims. None may come back empty while an execution is
// free, and a waiting claim must not sleep next to one.
import { startChild } from '../child.ts'
import type { ClaimRaceInput, ClaimRaceOutput } from '../claim/claim-race.child.ts'
import { median, percentile, rangeOf } from '../median.ts'
import type { ReportRow, Scenario } from '../scenario.ts'

const pairCount = 500
const waitCount = 200
const lateMs = 50

const alone = 'one waiting claim, one create'
const three = 'three waiting claims, three creates'

export const claimRace: Scenario = {
  name: 'claim-race',
  title: 'from the last create to the last of the claims that waited for it, each for one execution',
  async run(bench) {
    const database = await bench.server.createDatabase()
    const input: ClaimRaceInput = { url: database.url, pairCount, waitCount }
    const file = new URL('../claim/claim-race.child.ts', import.meta.url)
    const child = await startChild<ClaimRaceOutput>(bench.node, file, input)
    const outputs: ClaimRaceOutput[] = []
    for (let round = 1; round <= bench.settings.rounds; round++) {
      outputs.push(await child.tell('go'))
      bench.say(`round ${round}: ${countsOf(outputs.at(-1)!).join('; ')}`)
    }
    await child.end()
    await database.drop()
    const ratios = outputs.map((output) => median(output.lastMs) / median(output.aloneMs))
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: alone,
      rows: [
        rowOf(
          alone,
          outputs.flatMap((output) => output.aloneMs),
          [1],
        ),
        rowOf(
          three,
          outputs.flatMap((output) => output.lastMs),
          ratios,
        ),
      ],
      notes: outputs.flatMap(countsOf),
    }
  },
}

function rowOf(label: string, ms: readonly number[], ratios: readonly number[]): ReportRow {
  return {
    label,
    value: median(ms),
    figures: { p99: percentile(ms, 0.99), worst: rangeOf(ms)[1] },
    ratios: [{ to: alone, value: median(ratios), range: rangeOf(ratios) }],
  }
}

function countsOf({ emptyCount, lastMs }: ClaimRaceOutput): string[] {
  const lateCount = lastMs.filter((ms) => ms > lateMs).length
  return [
    `${emptyCount} of ${pairCount} rounds of two claims on two ready executions had a claim that came back empty`,
    `${lateCount} of ${lastMs.length} rounds of ${three} had a claim that was late by more than ${lateMs} ms`,
  ]
}
