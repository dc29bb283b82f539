import { mkdir, writeFile } from 'node:fs/promises'
import { machineLine } from '../machine.ts'
import type { Machine } from '../machine.ts'
import type { Report, Settings } from '../scenario.ts'
import { plot } from './plot.ts'

const results = new URL('../../results/', import.meta.url)

/** Two files a scenario, which the next run overwrites. */
export async function saveReport(report: Report, machine: Machine, settings: Settings): Promise<void> {
  await mkdir(results, { recursive: true })
  const document = { ...report, measuredOn: new Date().toISOString().slice(0, 10), machine, settings }
  await writeFile(new URL(`${report.name}.json`, results), `${JSON.stringify(document, roundNumbers, 2)}\n`)
  await writeFile(new URL(`${report.name}.svg`, results), plot(report, machineLine(machine)))
}

// Three significant digits are more than a shared machine can promise.
function roundNumbers(_: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(value.toPrecision(3))
}
