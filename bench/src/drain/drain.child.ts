// The process of one worker. It drains a little as a warm-up. For each order it then drains the load and returns the
// time.
import { serve } from '../child.ts'
import { loadPeer } from '../peers/peer.ts'
import type { PeerName } from '../peers/peer.ts'
import { drain, load } from './drain.ts'
import type { Drained } from './drain.ts'

export interface DrainInput {
  readonly peer: PeerName
  readonly url: string
  readonly warmUpCount: number
}

export interface DrainOrder {
  readonly act: 'load' | 'drain'
  readonly count: number
}

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
