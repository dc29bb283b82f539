// The process of a worker that starts, stops and reports its handled work on orders.
import { serve } from '../child.ts'
import { machineTime } from '../clock.ts'
import { loadPeer } from '../peers/peer.ts'
import type { Worker } from '../peers/contract.ts'
import type { PeerName } from '../peers/peer.ts'

export interface WorkInput {
  readonly peer: PeerName
  readonly url: string
}

/** `next` gets its reply when something is handled. */
export type WorkOrder = 'start' | 'next' | 'count' | 'list' | 'stop'

export interface WorkReport {
  /** Since the last start. */
  readonly handledCount: number
  /** When the handler of each began, by its sequence: of all for `list`, otherwise of the last. */
  readonly handled: readonly (readonly [sequence: number, atMs: number])[]
  readonly residentBytes: number
}

await serve<WorkReport, WorkOrder>(async (input) => {
  const { peer: name, url } = input as WorkInput
  const peer = await loadPeer(name)
  let handled: [number, number][] = []
  let wake = () => {}
  let worker: Worker | undefined

  async function start(): Promise<void> {
    handled = []
    worker = await peer.startWorker(url, ({ sequence }) => {
      handled.push([sequence, machineTime()])
      wake()
    })
  }

  const next = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })

  return {
    async obey(order) {
      if (order === 'start') await start()
      if (order === 'next') await next()
      if (order === 'stop') {
        await worker!.stop()
        worker = undefined
      }
      return {
        handledCount: handled.length,
        handled: order === 'list' ? handled : handled.slice(-1),
        residentBytes: process.memoryUsage.rss(),
      }
    },
    close: async () => worker?.stop(),
  }
})
