import { startChild } from '../child.ts'
import { median, rangeOf } from '../median.ts'
import type { Bar, Bench, ReportRow } from '../scenario.ts'
import type { ClaimPairInput, ClaimPairOutput } from './claim-pair.child.ts'
import { fill } from './waiting.ts'
import type { Waiting } from './waiting.ts'

export interface NamedTable extends Waiting {
  readonly name: string
}

const bar: Bar = { direction: 'at most', must: 2, aim: 1.2 }

/** Fills both, and compares a claim of 50 from one with the same claim from the other. */
export async function compareClaims(bench: Bench, small: NamedTable, large: NamedTable): Promise<ReportRow[]> {
  for (const table of [small, large]) {
    bench.say(`adding ${table.count.toLocaleString('en')} executions (${table.name})`)
    await fill(table)
  }
  const input: ClaimPairInput = { rounds: bench.settings.rounds, claimCount: 50, tables: [small, large] }
  const child = await startChild<ClaimPairOutput>(bench.node, new URL('./claim-pair.child.ts', import.meta.url), input)
  const [ofSmall, ofLarge] = await child.tell('go')
  await child.end()
  const ratios = ofLarge!.ms.map((ms, round) => ms / ofSmall!.ms[round]!)
  return [
    {
      label: small.name,
      value: median(ofSmall!.ms),
      figures: { worst: ofSmall!.worstMs },
      ratios: [{ to: small.name, value: 1, range: [1, 1] }],
    },
    {
      label: large.name,
      value: median(ofLarge!.ms),
      figures: { worst: ofLarge!.worstMs },
      ratios: [{ to: small.name, value: median(ratios), range: rangeOf(ratios), bar }],
    },
  ]
}
