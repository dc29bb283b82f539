// The first part of a close, on every URL: workers finish what runs, and give the rest back while they still can.
import type { Worker } from '../worker/worker.ts'

/** Each part of a close takes no longer. Not the engine's: over HTTP nothing of that is loaded. */
export const longestCloseMs = 10_000
// What is left of the time when the longest grace is over, to give back what still runs.
const giveBackMs = 2000

export async function stopWorkers(workers: Iterable<Worker>): Promise<void> {
  const stops = [...workers].map((each) => each.stop({ grace: Math.min(each.graceMs, longestCloseMs - giveBackMs) }))
  let timer: NodeJS.Timeout | undefined
  const givenUp = new Promise((resolve) => (timer = setTimeout(resolve, longestCloseMs)))
  await Promise.race([Promise.all(stops), givenUp])
  clearTimeout(timer)
}
