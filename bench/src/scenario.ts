// What a scenario is given and what it gives back. Times depend on the machine, so a verdict is only ever passed on a
// ratio between two things that were measured side by side.
import type { Server } from './server.ts'
import type { Stores } from './stores.ts'

export interface Scenario {
  readonly name: string
  readonly title: string
  run(bench: Bench): Promise<Report>
}

export interface Bench {
  readonly stores: Stores
  readonly server: Server
  readonly settings: Settings
  /** The Node that runs every contestant. */
  readonly node: string
  say(line: string): void
}

export interface Settings {
  /** How often everything is measured; medians are taken over the rounds. */
  readonly rounds: number
  /** Executions in the large table of the lists. */
  readonly rows: number
}

export interface Report {
  readonly name: string
  readonly title: string
  readonly unit: '/s' | 'ms'
  /** What the plot holds everything against; a ratio's `to`. */
  readonly baseline: string
  readonly rows: readonly ReportRow[]
  readonly notes: readonly string[]
}

export interface ReportRow {
  readonly label: string
  /** The median. */
  readonly value: number
  readonly ratios: readonly Ratio[]
  /** Bytes of write-ahead log for each thing written. */
  readonly logBytes?: number
}

export interface Ratio {
  readonly to: string
  /** The median of the rounds' ratios, with the lowest and the highest of them. */
  readonly value: number
  readonly range: readonly [number, number]
  readonly bar?: Bar
}

export interface Bar {
  readonly direction: 'at least' | 'at most'
  readonly must?: number
  readonly aim?: number
}
