// A turn is one measurement of one contestant with the raw probe that ran right before it. A machine that is slower at that
// moment slows both, so their quotient stays, and a ratio is a quotient of two such quotients.
import { median, rangeOf } from './median.ts'
import type { Bar, Ratio, ReportRow } from './scenario.ts'

export interface Turn {
  readonly round: number
  /** Things done in a second. */
  readonly rate: number
  readonly probeRate: number
  /** Bytes of write-ahead log for each thing. */
  readonly logBytes: number
}

/** By contestant. The n-th turn of one was taken right beside the n-th turn of every other. */
export type Turns = ReadonlyMap<string, readonly Turn[]>

export function relative(turn: Turn): number {
  return turn.rate / turn.probeRate
}

export interface Comparison {
  readonly to: string
  readonly bar?: Bar
}

export function rowOf(turns: Turns, name: string, comparisons: readonly Comparison[]): ReportRow {
  const own = turns.get(name)!
  return {
    label: name,
    value: median(own.map((turn) => turn.rate)),
    ratios: comparisons.map(({ to, bar }) => ratioOf(turns, name, to, bar)),
    logBytes: median(own.map((turn) => turn.logBytes)),
  }
}

// The range is that of the rounds' medians: how much another run may differ.
function ratioOf(turns: Turns, name: string, to: string, bar: Bar | undefined): Ratio {
  const ratios = turns.get(name)!.map((turn, index) => ({
    round: turn.round,
    value: relative(turn) / relative(turns.get(to)![index]!),
  }))
  const rounds = [...new Set(ratios.map(({ round }) => round))]
  const medians = rounds.map((round) =>
    median(ratios.filter((ratio) => ratio.round === round).map(({ value }) => value)),
  )
  return { to, value: median(ratios.map(({ value }) => value)), range: rangeOf(medians), ...(bar && { bar }) }
}

/** What the same work differs by against the probe: the noise of the run, and the probe's head start. */
export function noiseOf(turns: Turns, raw: string): string {
  const values = turns.get(raw)!.map(relative)
  const [low, high] = rangeOf(values)
  return `${raw} against its own probe: ${median(values).toFixed(2)} (single turns ${low.toFixed(2)} to ${high.toFixed(2)})`
}

/** Of some contestants, the one that is hardest to beat. */
export function fastest(turns: Turns, names: readonly string[]): string {
  const strength = (name: string) => median(turns.get(name)!.map(relative))
  return names.toSorted((a, b) => strength(b) - strength(a))[0]!
}

/** `FlowFabric 12,000/s (0.61x)`: one contestant's round. */
export function summarise(turns: Turns, name: string, round: number): string {
  const own = turns.get(name)!.filter((turn) => turn.round === round)
  const rate = Math.round(median(own.map((turn) => turn.rate))).toLocaleString('en')
  return `${name} ${rate}/s (${median(own.map(relative)).toFixed(2)}x)`
}

/** Nobody is always first. */
export function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
