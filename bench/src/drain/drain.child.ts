// The process of one worker. It drains a little to get warm; then, each time, what was loaded, and says how long that took:
// from the start of the first handler to the commit of the last ending. So starting up is measured for nobody.
import { setTimeout } from 'node:timers/promises'
import { serve } from '../child.ts'
import { makePayload } from '../peers/payload.ts'
import { loadPeer } from '../peers/peer.ts'
import type { Peer, PeerName } from '../peers/peer.ts'

export interface DrainInput {
  readonly peer: PeerName
  readonly url: string
  readonly warmUpCount: number
}

export interface DrainOrder {
  readonly act: 'load' | 'drain'
  readonly count: number
}

export interface Drained {
  readonly ms: number
}

const batchSize = 1000

await serve<Drained | null, DrainOrder>(async (input) => {
  const { peer: name, url, warmUpCount } = input as DrainInput
  const peer = await loadPeer(name)
  await load(peer, url, warmUpCount)
  await drain(peer, url, warmUpCount)
  return {
    async obey({ act, count }) {
      if (act === 'drain') return drain(peer, url, count)
      await load(peer, url, count)
      return null
    },
    close: async () => {},
  }
})

async function load(peer: Peer, url: string, count: number): Promise<void> {
  const submitter = await peer.open(url)
  for (let first = 0; first < count; first += batchSize) {
    const length = Math.min(batchSize, count - first)
    await submitter.createMany(Array.from({ length }, (_, index) => makePayload(first + index)))
  }
  await submitter.close()
}

async function drain(peer: Peer, url: string, count: number): Promise<Drained> {
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
