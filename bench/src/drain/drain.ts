// One load, submitted and drained by one peer.
import { setTimeout } from 'node:timers/promises'
import { makePayload } from '../peers/payload.ts'
import type { Peer } from '../peers/contract.ts'

export interface Drained {
  readonly ms: number
}

const batchSize = 1000

export async function load(peer: Peer, url: string, count: number): Promise<void> {
  const submitter = await peer.open(url)
  for (let first = 0; first < count; first += batchSize) {
    const length = Math.min(batchSize, count - first)
    await submitter.createMany(Array.from({ length }, (_, index) => makePayload(first + index)))
  }
  await submitter.close()
}

/** From the start of the first handler to the commit of the last ending: start-up is not measured. */
export async function drain(peer: Peer, url: string, count: number): Promise<Drained> {
  const seen = new Set<number>()
  let handledCount = 0
  let startedAt = 0
  let lastHandled: () => void = () => {}
  const handledAll = new Promise<void>((resolve) => {
    lastHandled = resolve
  })
  const worker = await peer.startWorker(url, ({ sequence }) => {
    if (handledCount++ === 0) startedAt = performance.now()
    seen.add(sequence)
    if (handledCount === count) lastHandled()
  })
  await handledAll
  while (!(await worker.isDone())) await setTimeout(1)
  const ms = performance.now() - startedAt
  await worker.stop()
  if (handledCount !== count || seen.size !== count) {
    throw new Error(`${handledCount} handled, ${seen.size} of them different; ${count} were loaded`)
  }
  return { ms }
}
