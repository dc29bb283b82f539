// The same work for several peers, in short laps that take turns: everyone stands ready, and right before each lap the raw
// probe runs one. A machine that is slower at that moment slows both, so their quotient stays, and a ratio is a quotient of
// two such quotients. The raw insert is a contestant too, with the same breaks as the others: the probe runs more often
// than anyone and was faster (measured: by a seventh), so nobody is held against the probe itself.
import type { ContestantInput, Lap, WorkName } from './contestant.child.ts'
import { startChild } from './child.ts'
import { median, rangeOf } from './median.ts'
import type { PeerName } from './peers/peer.ts'
import type { Bar, Bench, Ratio, ReportRow } from './scenario.ts'

export interface Turn {
  readonly round: number
  /** Things done in a second. */
  readonly rate: number
  readonly probeRate: number
  /** Bytes of write-ahead log for each thing. */
  readonly logBytes: number
}

/** The n-th turn of one peer was taken right beside the n-th turn of every other. */
export type Turns = ReadonlyMap<PeerName, readonly Turn[]>

const lapsInRound = 5

export async function hold(bench: Bench, work: WorkName, peers: readonly PeerName[]): Promise<Turns> {
  const turns = new Map<PeerName, Turn[]>(peers.map((peer) => [peer, []]))
  for (let round = 1; round <= bench.settings.rounds; round++) {
    const probe = await enter(bench, work, 'raw')
    const contestants: Contestant[] = []
    for (const peer of peers) contestants.push(await enter(bench, work, peer))
    // Once, for everyone: nobody pays for the pages that the start made dirty.
    await bench.server.checkpoint()
    for (let lap = 1; lap <= lapsInRound; lap++) {
      for (const contestant of rotate(contestants, lap)) {
        const { rate: probeRate } = await probe.run()
        turns.get(contestant.peer)!.push({ round, probeRate, ...(await contestant.run()) })
      }
    }
    for (const contestant of [probe, ...contestants]) await contestant.leave()
    bench.say(`round ${round}   ${peers.map((peer) => summary(turns, peer, round)).join('   ')}`)
  }
  return turns
}

interface Contestant {
  readonly peer: PeerName
  run(): Promise<{ rate: number; logBytes: number }>
  leave(): Promise<void>
}

async function enter({ server, node }: Bench, work: WorkName, peer: PeerName): Promise<Contestant> {
  const database = await server.createDatabase()
  const input: ContestantInput = { peer, work, url: database.url }
  const child = await startChild<Lap>(node, new URL('./contestant.child.ts', import.meta.url), input)
  return {
    peer,
    async run() {
      const before = await server.logPosition()
      const { count, ms, writtenCount } = await child.go()
      return { rate: (count * 1000) / ms, logBytes: ((await server.logPosition()) - before) / writtenCount }
    },
    async leave() {
      await child.end()
      await database.drop()
    },
  }
}

/** Nobody is always first. */
function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

function summary(turns: Turns, peer: PeerName, round: number): string {
  const own = turns.get(peer)!.filter((turn) => turn.round === round)
  const rate = Math.round(median(own.map((turn) => turn.rate))).toLocaleString('en')
  return `${peer} ${rate}/s (${median(own.map(relative)).toFixed(2)}x)`
}

function relative(turn: Turn): number {
  return turn.rate / turn.probeRate
}

export interface Comparison {
  readonly to: PeerName
  readonly bar?: Bar
}

export function rowOf(turns: Turns, peer: PeerName, comparisons: readonly Comparison[]): ReportRow {
  const own = turns.get(peer)!
  return {
    label: peer,
    value: median(own.map((turn) => turn.rate)),
    ratios: comparisons.map(({ to, bar }) => ratioOf(turns, peer, to, bar)),
    logBytes: median(own.map((turn) => turn.logBytes)),
  }
}

// The range is that of the rounds' medians: how much another run may differ.
function ratioOf(turns: Turns, peer: PeerName, to: PeerName, bar: Bar | undefined): Ratio {
  const ratios = turns.get(peer)!.map((turn, index) => ({
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
export function noiseOf(turns: Turns): string {
  const values = turns.get('raw')!.map(relative)
  const [low, high] = rangeOf(values)
  return `raw against its own probe: ${median(values).toFixed(2)} (single laps ${low.toFixed(2)} to ${high.toFixed(2)})`
}

/** Of some peers, the one that is hardest to beat. */
export function fastest(turns: Turns, peers: readonly PeerName[]): PeerName {
  const strength = (peer: PeerName) => median(turns.get(peer)!.map(relative))
  return peers.toSorted((a, b) => strength(b) - strength(a))[0]!
}
