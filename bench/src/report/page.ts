// The figures in docs/benchmarks.md: written between two marks from the stored results, so that a run of one scenario
// renews its part and leaves the others.
import { readFile, writeFile } from 'node:fs/promises'
import { machineLine } from '../machine.ts'
import type { SavedReport } from './save.ts'
import { tableOf } from './table.ts'

const page = new URL('../../../docs/benchmarks.md', import.meta.url)
const begin = '<!-- Figures: written by npm run bench -->'
const end = '<!-- End of the figures -->'

export async function writePage(reports: readonly SavedReport[]): Promise<void> {
  const text = await readFile(page, 'utf8')
  const before = text.slice(0, text.indexOf(begin))
  const after = text.slice(text.indexOf(end))
  await writeFile(page, `${before}${begin}\n\n${reports.map(section).join('\n')}\n${after}`)
}

export function section(report: SavedReport): string {
  const { name, title, notes, measuredOn, machine, settings } = report
  return `### ${title[0]!.toUpperCase()}${title.slice(1)}

${tableOf(report)}

![${title}](../bench/results/${name}.svg)

${notes.map((note) => `- ${note}`).join('\n')}
- \`npm run bench -- ${name}\`, ${measuredOn}, rounds=${settings.rounds}; ${machineLine(machine)}
`
}
