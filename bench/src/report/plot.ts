// One horizontal bar for each row: its ratio to the report's baseline. Dashed lines are the bars to reach; a row beyond
// the scale ends in its figure all the same.
import type { Report, ReportRow } from '../scenario.ts'
import { showRatio } from './unit.ts'

const labelWidth = 330
const plotWidth = 520
const width = labelWidth + plotWidth + 90
const rowHeight = 22
const top = 64

export function plot(report: Report, machine: string): string {
  const rows = report.rows.map((row) => ({ label: row.label, ratio: ratioToBaseline(report, row) }))
  const lines = linesOf(report)
  const farthestRow = Math.max(...rows.map((row) => row.ratio))
  const farthestLine = lines.length === 0 ? farthestRow : Math.max(...lines.map((line) => line.at))
  const scale = Math.max(farthestLine * 1.5, Math.min(farthestRow, farthestLine * 3))
  const x = (ratio: number) => labelWidth + Math.min(ratio / scale, 1) * plotWidth
  const height = top + rows.length * rowHeight + 40
  const bottom = top + rows.length * rowHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="16" y="24" font-size="15" font-weight="600">${escape(report.title)}</text>
<text x="16" y="42" fill="#666666">${escape(`ratio to ${report.baseline}`)}</text>
${rows.map(({ label, ratio }, index) => barOf(label, ratio, top + index * rowHeight, x(ratio), colourOf(report, label))).join('\n')}
${lines.map(({ word, at }) => lineOf(word, x(at), bottom)).join('\n')}
<text x="16" y="${height - 14}" fill="#888888" font-size="10">${escape(machine)}</text>
</svg>
`
}

function ratioToBaseline(report: Report, row: ReportRow): number {
  return row.ratios.find((ratio) => ratio.to === report.baseline)?.value ?? 0
}

// Ours have another colour next to those of others.
function colourOf(report: Report, label: string): string {
  const isOurs = (name: string) => name.startsWith('FlowFabric')
  return isOurs(label) || !report.rows.some((row) => isOurs(row.label)) ? '#3b6fd4' : '#b6bdc6'
}

interface Line {
  readonly word: string
  readonly at: number
}

/** A bar may be a ratio to another row; then it is drawn at that row's own place. */
function linesOf(report: Report): Line[] {
  const lines = new Map<string, Line>()
  for (const { to, bar } of report.rows.flatMap((row) => row.ratios)) {
    if (bar === undefined) continue
    const reference = report.rows.find((row) => row.label === to)
    const one = to === report.baseline || reference === undefined ? 1 : ratioToBaseline(report, reference)
    if (bar.must !== undefined) lines.set('must', { word: 'must', at: bar.must * one })
    if (bar.aim !== undefined) lines.set('aim', { word: 'aim', at: bar.aim * one })
  }
  return [...lines.values()]
}

function barOf(label: string, ratio: number, y: number, end: number, colour: string): string {
  return `<text x="${labelWidth - 8}" y="${y + 14}" text-anchor="end">${escape(label)}</text>
<rect x="${labelWidth}" y="${y + 3}" width="${(end - labelWidth).toFixed(1)}" height="14" fill="${colour}"/>
<text x="${(end + 6).toFixed(1)}" y="${y + 14}" fill="#444444">${showRatio(ratio)}</text>`
}

function lineOf(word: string, x: number, bottom: number): string {
  return `<line x1="${x.toFixed(1)}" y1="${top - 6}" x2="${x.toFixed(1)}" y2="${bottom}" stroke="#c0392b" stroke-dasharray="4 3"/>
<text x="${x.toFixed(1)}" y="${top - 10}" text-anchor="middle" fill="#c0392b" font-size="10">${word}</text>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
