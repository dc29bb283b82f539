import type { Ratio, Report, ReportRow } from '../scenario.ts'
import { inUnit, showRatio } from './unit.ts'
import { isMet, barsText } from './bars.ts'

export function printReport(report: Report): void {
  const lines = report.rows.map((row) => cellsOf(report, row))
  const widths = columnWidths(lines)
  console.log('')
  for (const line of lines)
    console.log(`  ${line.map((cell, column) => cell.padEnd(widths[column]!)).join('   ')}`.trimEnd())
  for (const note of report.notes) console.log(`  ${note}`)
  printVerdict(report)
}

function printVerdict({ rows }: Report): void {
  if (!rows.some((row) => row.ratios.some(({ bar }) => bar?.must !== undefined))) return
  const missed = rows.filter((row) => row.ratios.some(missesMust)).map((row) => row.label)
  console.log(
    missed.length === 0 ? '  every required bound holds' : `  required bounds missed by: ${missed.join('; ')}`,
  )
}

function missesMust({ value, bar }: Ratio): boolean {
  return bar?.must !== undefined && !isMet(value, bar.direction, bar.must)
}

function cellsOf({ unit }: Report, row: ReportRow): string[] {
  const figures = Object.entries(row.figures ?? {}).map(([name, value]) => `${name} ${inUnit(value, unit)}`)
  const log = row.logBytes === undefined ? [] : [`${Math.round(row.logBytes)} log bytes each`]
  const load = row.perSecond === undefined ? [] : [`at ${inUnit(row.perSecond, '/s')}`]
  return [
    row.label,
    inUnit(row.value, unit).padStart(10),
    ...figures,
    ...load,
    ...log,
    ...row.ratios.flatMap(ratioCells),
  ]
}

function ratioCells(ratio: Ratio): string[] {
  const [low, high] = ratio.range
  return [`${showRatio(ratio.value)} ${ratio.to}`, `(${showRatio(low)} to ${showRatio(high)})`, barsText(ratio)]
}

function columnWidths(lines: readonly (readonly string[])[]): number[] {
  const columns = Math.max(...lines.map((line) => line.length))
  return Array.from({ length: columns }, (_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
}
