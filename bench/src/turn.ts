// A turn is one measurement of one contestant with the raw probe that ran right before it. A machine that is slower at
// that moment slows both, so their quotient stays, and a ratio is a quotient of two such quotients.
import { median, rangeOf } from './median.ts'
import { inUnit, showRatio } from './report/unit.ts'
import type { Bar, Ratio, ReportRow, Unit } from './scenario.ts'

export interface Turn {
  readonly round: number
  /** A rate or a time, as the report's unit says. */
  readonly value: number
  /** The probe's. */
  readonly probeValue: number
  /** Bytes of write-ahead log for each thing. */
  readonly logBytes?: number
  /** The load that it was measured under. */
  readonly perSecond?: number
  /** More of the same measurement, by name, in the report's unit. */
  readonly figures?: Readonly<Record<string, number>>
}

/** By contestant. The n-th turn of one was taken right next to the n-th turn of every other. */
export type Turns = ReadonlyMap<string, readonly Turn[]>

export function relative(turn: Turn): number {
  return turn.value / turn.probeValue
}

export interface Comparison {
  readonly to: string
  readonly bar?: Bar
}

export function rowOf(turns: Turns, name: string, comparisons: readonly Comparison[]): ReportRow {
  const own = turns.get(name)!
  return {
    label: name,
    value: median(own.map((turn) => turn.value)),
    ratios: comparisons.map(({ to, bar }) => ratioOf(turns, name, to, bar)),
    ...figuresOf(own),
    ...medianOf(own, 'logBytes'),
    ...medianOf(own, 'perSecond'),
  }
}

function figuresOf(own: readonly Turn[]): Pick<ReportRow, 'figures'> {
  const names = Object.keys(own[0]?.figures ?? {})
  if (names.length === 0) return {}
  return { figures: Object.fromEntries(names.map((name) => [name, median(own.map((turn) => turn.figures![name]!))])) }
}

function medianOf<Name extends 'logBytes' | 'perSecond'>(
  own: readonly Turn[],
  name: Name,
): { [name in Name]?: number } {
  const values = own.flatMap(({ [name]: value }) => (value === undefined ? [] : [value]))
  return values.length === 0 ? {} : ({ [name]: median(values) } as { [name in Name]: number })
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

/** How much the same work differs against the probe: the noise of the run, and the probe's head start. */
export function noiseOf(turns: Turns, raw: string): string {
  const values = turns.get(raw)!.map(relative)
  const [low, high] = rangeOf(values)
  return `${raw} against its own probe: ${showRatio(median(values))} (single turns ${showRatio(low)} to ${showRatio(high)})`
}

/** The fastest of these contestants. */
export function fastest(turns: Turns, names: readonly string[]): string {
  const strength = (name: string) => median(turns.get(name)!.map(relative))
  return names.toSorted((a, b) => strength(b) - strength(a))[0]!
}

/** `FlowFabric 12,000/s, 0.61x its probe`: one contestant's round. */
export function summarise(turns: Turns, name: string, round: number, unit: Unit): string {
  const own = turns.get(name)!.filter((turn) => turn.round === round)
  const value = inUnit(median(own.map((turn) => turn.value)), unit)
  return `${name} ${value}, ${showRatio(median(own.map(relative)))} its probe`
}

/** So that no contestant is always first. */
export function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
