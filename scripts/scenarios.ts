// npm run scenarios [-- --strict EXEC,TAG]
//
// Prints how far the tests cover the catalogue. With --strict, a due scenario of these areas without a test is an
// error.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findUnknown, measure, readMentions } from '../test/scenarios/coverage.ts'
import type { AreaCoverage } from '../test/scenarios/coverage.ts'

const { values } = parseArgs({ options: { strict: { type: 'string', default: '' } } })
const mentions = await readMentions(fileURLToPath(new URL('../test', import.meta.url)))
const areas = measure(mentions)
const unknown = findUnknown(mentions)
const strict = values.strict.split(',').filter((area) => area !== '')

printTable(areas)
printMissing(areas)
for (const id of unknown) console.error(`unknown scenario ${id} in ${mentions.get(id)?.join(', ')}`)
process.exitCode = unknown.length + uncovered(areas, strict) > 0 ? 1 : 0

function printTable(rows: readonly AreaCoverage[]): void {
  const columns = ['covered', 'waiting', 'void', 'missing'] as const
  const line = (first: string, cells: readonly (string | number)[]) =>
    console.log(first.padEnd(8) + cells.map((cell) => String(cell).padStart(9)).join(''))
  line('area', columns)
  for (const row of rows) {
    const counts = columns.map((column) => row.counts[column])
    line(row.area, counts)
  }
  const totals = columns.map((column) => rows.reduce((sum, row) => sum + row.counts[column], 0))
  line('all', totals)
}

function printMissing(rows: readonly AreaCoverage[]): void {
  const missing = rows.flatMap((row) => row.missing)
  if (missing.length > 0) console.log('\nwithout a test:')
  for (const scenario of missing) console.log(`  ${scenario.id.padEnd(9)} ${scenario.priority}  ${scenario.title}`)
}

function uncovered(rows: readonly AreaCoverage[], names: readonly string[]): number {
  for (const name of names) {
    if (!rows.some((row) => row.area === name)) throw new Error(`no area is called ${name}`)
  }
  return rows.filter((row) => names.includes(row.area)).reduce((sum, row) => sum + row.counts.missing, 0)
}
