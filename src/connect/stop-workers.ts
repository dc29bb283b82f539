// The first part of a close, on every URL: workers finish running executions, and release the rest while they still
// can.
import type { Worker } from '../worker/worker.ts'

/** The limit of each part of a close. Not imported from the engine, which is not loaded over HTTP. */
export const longestCloseMs = 10_000
// The time that is kept after the longest grace, to release executions that are still running.
const giveBackMs = 2000

export async function stopWorkers(workers: Iterable<Worker>): Promise<void> {
  const stops = [...workers].map((each) => each.stop({ grace: Math.min(each.graceMs, longestCloseMs - giveBackMs) }))
  let timer: NodeJS.Timeout | undefined
  const givenUp = new Promise((resolve) => (timer = setTimeout(resolve, longestCloseMs)))
  await Promise.race([Promise.all(stops), givenUp])
  clearTimeout(timer)
}
