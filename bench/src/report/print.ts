import type { Ratio, Report, ReportRow } from '../scenario.ts'
import { isMet, verdictOf } from './verdict.ts'

export function printReport(report: Report): void {
  const lines = report.rows.map((row) => cellsOf(report, row))
  const widths = columnWidths(lines)
  console.log('')
  for (const line of lines)
    console.log(`  ${line.map((cell, column) => cell.padEnd(widths[column]!)).join('   ')}`.trimEnd())
  for (const note of report.notes) console.log(`  ${note}`)
  const missed = report.rows.filter((row) => row.ratios.some(missesMust)).map((row) => row.label)
  console.log(missed.length === 0 ? '  every must is met' : `  a must is missed by: ${missed.join('; ')}`)
}

function missesMust({ value, bar }: Ratio): boolean {
  return bar?.must !== undefined && !isMet(value, bar.direction, bar.must)
}

function cellsOf({ unit }: Report, row: ReportRow): string[] {
  const value = unit === '/s' ? `${Math.round(row.value).toLocaleString('en')}/s` : `${row.value.toFixed(2)} ms`
  const log = row.logBytes === undefined ? [] : [`${Math.round(row.logBytes)} log bytes each`]
  return [row.label, value.padStart(10), ...log, ...row.ratios.flatMap(ratioCells)]
}

function ratioCells(ratio: Ratio): string[] {
  const [low, high] = ratio.range
  return [`${ratio.value.toFixed(2)}x ${ratio.to}`, `(${low.toFixed(2)} to ${high.toFixed(2)})`, verdictOf(ratio)]
}

function columnWidths(lines: readonly (readonly string[])[]): number[] {
  const columns = Math.max(...lines.map((line) => line.length))
  return Array.from({ length: columns }, (_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
}
