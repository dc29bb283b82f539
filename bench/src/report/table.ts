// A report as a Markdown table: ratios first, measured values next to them.
import type { Ratio, Report, ReportRow } from '../scenario.ts'
import { inUnit, showRatio } from './unit.ts'
import { barsText } from './bars.ts'

export function tableOf(report: Report): string {
  const figureNames = [...new Set(report.rows.flatMap(({ figures }) => Object.keys(figures ?? {})))]
  const hasLoad = report.rows.some(({ perSecond }) => perSecond !== undefined)
  const hasLog = report.rows.some(({ logBytes }) => logBytes !== undefined)
  const header = [
    '',
    'ratio',
    'measured',
    ...figureNames,
    ...(hasLoad ? ['load'] : []),
    ...(hasLog ? ['log bytes each'] : []),
  ]
  const cellsOf = (row: ReportRow) => [
    row.label.trim(),
    row.ratios.map(showBar).join('<br>'),
    inUnit(row.value, report.unit),
    ...figureNames.map((name) => optional(row.figures?.[name], (value) => inUnit(value, report.unit))),
    ...(hasLoad ? [optional(row.perSecond, (value) => inUnit(value, '/s'))] : []),
    ...(hasLog ? [optional(row.logBytes, (value) => Math.round(value).toLocaleString('en'))] : []),
  ]
  return [header, header.map(() => '---'), ...report.rows.map(cellsOf)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function showBar(ratio: Ratio): string {
  const [low, high] = ratio.range
  const range = low === high ? '' : ` (${showRatio(low)} to ${showRatio(high)})`
  const bars = ratio.bar === undefined ? '' : `: ${barsText(ratio)}`
  return `**${showRatio(ratio.value)}** ${ratio.to}${range}${bars}`
}

function optional(value: number | undefined, show: (value: number) => string): string {
  return value === undefined ? '' : show(value)
}
