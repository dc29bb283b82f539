// The process that claims from two tables in turns, so that anything that slows the machine slows both. Another engine
// completes the claimed executions and adds as many: an engine that adds to a queue reads its head again, so it would
// be measured in a state that most claims are not in.
import { randomUUID } from 'node:crypto'
import { connect } from '../../../src/index.ts'
import { serve } from '../child.ts'
import { median } from '../median.ts'
import { add } from './waiting.ts'
import type { Waiting } from './waiting.ts'

export interface ClaimPairInput {
  readonly rounds: number
  readonly claimCount: number
  readonly tables: readonly [Waiting, Waiting]
}

/** For each table, the times of its claims: the median of each round, and the slowest of all. */
export type ClaimPairOutput = readonly { readonly ms: number[]; worstMs: number }[]

const warmUpCount = 10
const claimsInRound = 40

await serve<ClaimPairOutput>(async (input) => {
  const { rounds, claimCount, tables } = input as ClaimPairInput
  const claimers = await Promise.all(tables.map((table) => openClaimer(table, claimCount)))
  for (let count = 0; count < warmUpCount; count++) for (const claimer of claimers) await claimer.claim()
  return {
    async obey() {
      const output = tables.map(() => ({ ms: [] as number[], worstMs: 0 }))
      for (let round = 0; round < rounds; round++) {
        const times = tables.map(() => [] as number[])
        for (let count = 0; count < claimsInRound; count++) {
          for (const [index, claimer] of claimers.entries()) times[index]!.push(await claimer.claim())
        }
        for (const [index, { ms, worstMs }] of output.entries()) {
          ms.push(median(times[index]!))
          output[index]!.worstMs = Math.max(worstMs, ...times[index]!)
        }
      }
      return output
    },
    close: async () => void (await Promise.all(claimers.map((claimer) => claimer.close()))),
  }
})

async function openClaimer({ url, lanes }: Waiting, claimCount: number) {
  const ff = await connect(url)
  const feeder = await connect(url)
  const { executions } = ff.engine
  const worker = { workerId: 'bench', workerInstanceId: randomUUID() }
  return {
    async claim(): Promise<number> {
      const startedAt = performance.now()
      const { claims } = await executions.claim({ ...worker, lanes, max: claimCount })
      const ms = performance.now() - startedAt
      if (claims.length !== claimCount) throw new Error(`${claims.length} were claimed; ${claimCount} were asked for`)
      await executions.completeMany(
        claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch })),
      )
      await add(feeder.engine.executions, lanes, claimCount)
      return ms
    },
    async close() {
      await ff.close()
      await feeder.close()
    },
  }
}
