// Submits sets until so many executions are open, and again as soon as enough of them have been handled.
import { setTimeout } from 'node:timers/promises'
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'
import { makePayload, type Payload } from '../peers/payload.ts'

export interface SoakInput {
  readonly url: string
}

/** How many have been handled so far; null stops the producer. */
export interface ProducerOrder {
  readonly handled: number | null
}

const setSize = 500
const mostOpen = 5000

await serve<number, ProducerOrder>(async (input) => {
  const { url } = input as SoakInput
  const ff = await connect(url)
  const sendEmail = task('send-email', async (_, payload: Payload) => payload.sequence)
  let submitted = 0
  let handled = 0
  const stopped = new AbortController()
  let producing: Promise<void> | null = null

  async function produce(): Promise<void> {
    while (!stopped.signal.aborted) {
      if (submitted - handled > mostOpen - setSize) {
        await setTimeout(5)
        continue
      }
      const items = Array.from({ length: setSize }, (_, index) => ({ input: makePayload(submitted + index) }))
      await ff.submitMany(sendEmail, items)
      submitted += setSize
    }
  }

  return {
    /** How many were submitted. */
    async obey(order) {
      if (order.handled !== null) {
        handled = order.handled
        producing ??= produce()
      } else {
        stopped.abort()
        await producing
      }
      return submitted
    },
    close: () => ff.close(),
  }
})
