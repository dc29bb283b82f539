// The process of one peer at one piece of work.
import { serve } from './child.ts'
import { makePayload } from './peers/payload.ts'
import type { Payload } from './peers/payload.ts'
import { loadCreating } from './peers/peer.ts'
import type { Submitter } from './peers/contract.ts'
import type { CreatingName } from './peers/peer.ts'

export interface ContestantInput {
  readonly peer: CreatingName
  readonly work: WorkName
  readonly url: string
}

export interface Lap {
  readonly count: number
  readonly ms: number
  /** Including the rows of the warm-up. */
  readonly writtenCount: number
}

const works = { 'create-one': createOne, 'create-batch': createBatches } satisfies Record<string, Work>

/** Works for about this long, a lap or the warm-up before it, and returns the count and the time. */
type Work = (submitter: Submitter, length: 'lap' | 'warm-up') => Promise<{ count: number; ms: number }>

export type WorkName = keyof typeof works

const submitterCount = 16
const batchSize = 1000

// Each submitter sends its next request only when its last is committed.
async function createOne(submitter: Submitter, length: 'lap' | 'warm-up') {
  const startedAt = performance.now()
  const until = startedAt + (length === 'lap' ? 500 : 150)
  let count = 0
  const submit = async () => {
    while (performance.now() < until) await submitter.create(makePayload(count++))
  }
  await Promise.all(Array.from({ length: submitterCount }, submit))
  return { count, ms: performance.now() - startedAt }
}

async function createBatches(submitter: Submitter, length: 'lap' | 'warm-up') {
  const startedAt = performance.now()
  const count = length === 'lap' ? 4 * batchSize : batchSize
  for (let first = 0; first < count; first += batchSize) await submitter.createMany(makeBatch(first))
  return { count, ms: performance.now() - startedAt }
}

function makeBatch(first: number): Payload[] {
  return Array.from({ length: batchSize }, (_, index) => makePayload(first + index))
}

// Long enough for the compiler, the connections and the prepared statements of every contestant.
const firstWarmUps = 6

await serve<Lap>(async (input) => {
  const { peer, work, url } = input as ContestantInput
  const submitter = await (await loadCreating(peer)).open(url)
  for (let count = 0; count < firstWarmUps; count++) await works[work](submitter, 'warm-up')
  return {
    // A process that slept while the others ran is slower at first; that must not be measured.
    async obey() {
      const warmUp = await works[work](submitter, 'warm-up')
      const { count, ms } = await works[work](submitter, 'lap')
      return { count, ms, writtenCount: warmUp.count + count }
    },
    close: () => submitter.close(),
  }
})
