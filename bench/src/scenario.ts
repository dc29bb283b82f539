// The input and the output of a scenario. Times depend on the machine, so a bar applies only to a ratio between two
// things that were measured side by side.
import type { CreatingName } from './peers/peer.ts'
import type { Server } from './server.ts'
import type { Stores } from './stores.ts'

export interface Scenario {
  readonly name: string
  readonly title: string
  /** Also measures peers of other vendors, which are installed on demand. */
  readonly hasPeers?: true
  run(bench: Bench): Promise<Report>
}

export interface Bench {
  readonly stores: Stores
  readonly server: Server
  readonly settings: Settings
  /** The Node that runs every contestant. */
  readonly node: string
  /** Whether it was selected and can run here. */
  takesPart(name: CreatingName): boolean
  say(line: string): void
}

export interface Settings {
  /** How often everything is measured; medians are taken over the rounds. */
  readonly rounds: number
  /** Executions in a large table; half as many go through one. */
  readonly rows: number
  /** How long a scenario of endurance takes. */
  readonly seconds: number
  /** Prefixes of the names of contestants besides raw and FlowFabric; empty: all of them. */
  readonly only: readonly string[]
}

export type Unit = '/s' | 'ms' | 'us' | 'MB' | 'bytes'

export interface Report {
  readonly name: string
  readonly title: string
  readonly unit: Unit
  /** The row that the plot compares with; a ratio's `to`. */
  readonly baseline: string
  readonly rows: readonly ReportRow[]
  readonly notes: readonly string[]
}

export interface ReportRow {
  readonly label: string
  /** The median. */
  readonly value: number
  readonly ratios: readonly Ratio[]
  /** More of the same measurement, by name, in the same unit. */
  readonly figures?: Readonly<Record<string, number>>
  /** Bytes of write-ahead log for each thing. */
  readonly logBytes?: number
  /** The load that it was measured under. */
  readonly perSecond?: number
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
