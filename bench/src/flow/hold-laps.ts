// Laps of one process on one database, in turn; right before each, the probe's lap of as many.
import { startChild } from '../child.ts'
import { checkEnd } from '../drain/check-end.ts'
import type { Bench } from '../scenario.ts'
import { rotate, summarise } from '../turn.ts'
import type { Turn, Turns } from '../turn.ts'
import type { FlowInput, FlowOrder } from './flow.child.ts'

export interface Laps {
  readonly probe: FlowOrder['act']
  readonly probeCount: number
  /** By name. */
  readonly laps: Readonly<Record<string, FlowOrder>>
  /** Every execution succeeded, once: the database is checked after a drain. */
  readonly isDrain: boolean
}

/** Rates: members in a second. */
export async function holdLaps(bench: Bench, { probe, probeCount, laps, isDrain }: Laps): Promise<Turns> {
  const names = Object.keys(laps)
  const turns = new Map<string, Turn[]>(names.map((name) => [name, []]))
  for (let round = 1; round <= bench.settings.rounds; round++) {
    bench.say(`round ${round}`)
    const database = await bench.server.createDatabase()
    const input: FlowInput = { url: database.url, acts: [probe, ...Object.values(laps).map(({ act }) => act)] }
    const file = new URL('./flow.child.ts', import.meta.url)
    const child = await startChild<{ ms: number }, FlowOrder>(bench.node, file, input)
    const rateOf = async (order: FlowOrder): Promise<number> => {
      await bench.server.checkpoint()
      return (order.count * 1000) / (await child.tell(order)).ms
    }
    for (const name of rotate(names, round)) {
      const probeValue = await rateOf({ act: probe, count: probeCount })
      turns.get(name)!.push({ round, probeValue, value: await rateOf(laps[name]!) })
      bench.say(summarise(turns, name, round, '/s'))
    }
    await child.end()
    if (isDrain) await checkEnd(database.url)
    await database.drop()
  }
  return turns
}
