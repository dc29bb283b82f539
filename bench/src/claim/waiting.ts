// Executions that wait, made through the public API.
import { connect } from '../../../src/index.ts'
import type { Executions } from '../../../src/index.ts'
import { makePayload } from '../peers/payload.ts'
import { request } from '../peers/flowfabric.ts'
import { bySets } from '../../../src/model/sets.ts'

const batchSize = 5000

/** A table with so many waiting, spread evenly over its lanes. */
export interface Waiting {
  readonly url: string
  readonly lanes: readonly string[]
  readonly count: number
}

export async function fill({ url, lanes, count }: Waiting): Promise<void> {
  const ff = await connect(url)
  for (let first = 0; first < count; first += batchSize) {
    await add(ff.engine.executions, lanes, Math.min(batchSize, count - first))
  }
  await ff.close()
}

export async function add(executions: Executions, lanes: readonly string[], count: number): Promise<void> {
  const requests = Array.from({ length: count }, (_, index) => ({
    ...request(makePayload(index)),
    lane: lanes[index % lanes.length]!,
  }))
  const refused = (await bySets(requests, (set) => executions.createMany(set))).find(({ kind }) => kind === 'refused')
  if (refused !== undefined) throw new Error(JSON.stringify(refused))
}
