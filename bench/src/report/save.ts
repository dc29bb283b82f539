// The files of a run in results/: figures, a plot and a table for each scenario, which the next run of it overwrites.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { machineLine } from '../machine.ts'
import type { Machine } from '../machine.ts'
import type { Report, Settings } from '../scenario.ts'
import { plot } from './plot.ts'
import { tableOf } from './table.ts'

export interface SavedReport extends Report {
  readonly measuredOn: string
  readonly machine: Machine
  readonly settings: Settings
}

const results = new URL('../../results/', import.meta.url)

export async function saveReport(report: Report, machine: Machine, settings: Settings): Promise<void> {
  await mkdir(results, { recursive: true })
  const saved: SavedReport = { ...report, measuredOn: new Date().toISOString().slice(0, 10), machine, settings }
  await writeFile(new URL(`${report.name}.json`, results), `${JSON.stringify(saved, roundNumbers, 2)}\n`)
  await writeFile(new URL(`${report.name}.md`, results), `# ${report.title}\n\n${tableOf(report)}\n`)
  await writeFile(new URL(`${report.name}.svg`, results), plot(report, machineLine(machine)))
}

/** The stored reports of these names. */
export async function readReports(names: readonly string[]): Promise<SavedReport[]> {
  const read = async (name: string) => {
    const text = await readFile(new URL(`${name}.json`, results), 'utf8').catch(() => null)
    return text === null ? [] : [JSON.parse(text) as SavedReport]
  }
  return (await Promise.all(names.map(read))).flat()
}

// Three significant digits are more than a shared machine can promise.
function roundNumbers(_: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(value.toPrecision(3))
}
