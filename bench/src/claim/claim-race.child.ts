// The process in which claims of one compete for as many ready executions as there are claims.
import { randomUUID } from 'node:crypto'
import { connect } from '../../../src/index.ts'
import type { Claim, FlowFabric } from '../../../src/index.ts'
import { serve } from '../child.ts'
import { add } from './waiting.ts'

export interface ClaimRaceInput {
  readonly url: string
  readonly pairCount: number
  readonly waitCount: number
}

export interface ClaimRaceOutput {
  /** Rounds of two claims on two ready executions in which a claim came back empty. */
  readonly emptyCount: number
  /** From the create to the claim, one waiting claim and one create. */
  readonly aloneMs: readonly number[]
  /** From the last of three creates to the last of three waiting claims. */
  readonly lastMs: readonly number[]
}

const lanes = ['default']
const warmUpCount = 10

await serve<ClaimRaceOutput>(async (input) => {
  const { url, pairCount, waitCount } = input as ClaimRaceInput
  const claimers = await Promise.all([connect(url), connect(url), connect(url)])
  const creator = await connect(url)
  await countEmpty(claimers.slice(0, 2), creator, warmUpCount)
  await measureWaiting(claimers, creator, warmUpCount)
  return {
    obey: async () => ({
      emptyCount: await countEmpty(claimers.slice(0, 2), creator, pairCount),
      aloneMs: await measureWaiting(claimers.slice(0, 1), creator, waitCount),
      lastMs: await measureWaiting(claimers, creator, waitCount),
    }),
    close: async () => void (await Promise.all([...claimers, creator].map((ff) => ff.close()))),
  }
})

async function countEmpty(claimers: readonly FlowFabric[], creator: FlowFabric, count: number): Promise<number> {
  let emptyCount = 0
  for (let round = 0; round < count; round++) {
    await add(creator.engine.executions, lanes, claimers.length)
    const taken = await Promise.all(claimers.map((ff) => claimOne(ff)))
    if (taken.some((claims) => claims.length === 0)) emptyCount += 1
    const claims = taken.flat()
    while (claims.length < claimers.length) claims.push(...(await claimOne(creator)))
    await complete(creator, claims)
  }
  return emptyCount
}

async function measureWaiting(claimers: readonly FlowFabric[], creator: FlowFabric, count: number): Promise<number[]> {
  const ms: number[] = []
  for (let round = 0; round < count; round++) {
    const waiting = Promise.all(claimers.map((ff) => claimOne(ff, '10s')))
    let createdAt = 0
    for (let made = 0; made < claimers.length; made++) {
      await add(creator.engine.executions, lanes, 1)
      createdAt = performance.now()
    }
    const claims = await waiting
    ms.push(Math.max(0, performance.now() - createdAt))
    await complete(creator, claims.flat())
  }
  return ms
}

async function claimOne({ engine }: FlowFabric, wait?: '10s'): Promise<readonly Claim[]> {
  const worker = { workerId: 'bench', workerInstanceId: randomUUID(), lanes }
  const { claims } = await engine.executions.claim(wait === undefined ? worker : { ...worker, wait })
  return claims
}

async function complete({ engine }: FlowFabric, claims: readonly Claim[]): Promise<void> {
  await engine.executions.completeMany(
    claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch })),
  )
}
