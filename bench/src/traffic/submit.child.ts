// The process that submits: one, many at once, as fast as it can, or at a steady pace.
import { serve } from '../child.ts'
import { loadPeer } from '../peers/peer.ts'
import type { PeerName } from '../peers/peer.ts'
import { Sending } from './sending.ts'
import type { Submitted } from './sending.ts'

export interface SubmitInput {
  readonly peer: PeerName
  readonly url: string
}

export type SubmitOrder =
  | { readonly act: 'one' }
  | { readonly act: 'load'; readonly count: number }
  | { readonly act: 'flood'; readonly ms: number }
  | { readonly act: 'pace'; readonly ms: number; readonly perSecond: number }

await serve<Submitted, SubmitOrder>(async (input) => {
  const { peer, url } = input as SubmitInput
  const submitter = await (await loadPeer(peer)).open(url)
  const sending = new Sending(submitter)
  return {
    async obey(order) {
      if (order.act === 'one') return sending.one()
      if (order.act === 'load') return sending.load(order.count)
      if (order.act === 'flood') return sending.flood(order.ms)
      return sending.pace(order.ms, order.perSecond)
    },
    close: () => submitter.close(),
  }
})
