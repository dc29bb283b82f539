// Processes that only listen: subscribers and waiting claims, over HTTP. On an order they return how many were reached.
import { setMaxListeners } from 'node:events'
import { connect } from '../../../src/client.ts'
import { serve } from '../child.ts'

export interface ListenersInput {
  readonly url: string
  readonly subscriberCount: number
  readonly claimCount: number
}

export interface Listened {
  readonly eventCount: number
  readonly claimedCount: number
}

await serve<Listened>(async (input) => {
  const { url, subscriberCount, claimCount } = input as ListenersInput
  const ff = await connect(url)
  const stopping = new AbortController()
  const { signal } = stopping
  setMaxListeners(0, signal)
  let [eventCount, claimedCount] = [0, 0]

  async function listen(): Promise<() => Promise<void>> {
    const subscription = await ff.engine.events.subscribe({ kinds: ['ended'], signal })
    return async () => {
      for await (const _ of subscription) eventCount += 1
    }
  }

  async function claim(number: number): Promise<void> {
    const worker = { workerId: 'waits', workerInstanceId: `waits-${number}`, lanes: ['awaited'] }
    while (!signal.aborted) {
      const { claims } = await ff.engine.executions.claim({ ...worker, wait: '1m', signal })
      claimedCount += claims.length
    }
  }

  const loops: Promise<void>[] = []
  for (let first = 0; first < subscriberCount; first += 50) {
    const some = await Promise.all(Array.from({ length: Math.min(50, subscriberCount - first) }, listen))
    loops.push(...some.map((go) => go()))
  }
  for (let number = 0; number < claimCount; number += 1) loops.push(claim(number))
  return {
    obey: async () => ({ eventCount, claimedCount }),
    async close() {
      stopping.abort()
      await Promise.all(loops)
      await ff.close()
    },
  }
})
