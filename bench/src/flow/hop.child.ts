// The process that measures one hop at a time, with nothing else to do: a member is completed, and the member that
// waits for it is claimed. Next to each, the same without a flow, and a single row that is inserted and committed.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { connect } from '../../../src/index.ts'
import type { Claim, Engine, FlowFabric } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface HopInput {
  readonly url: string
  readonly count: number
}

/** In milliseconds, each beside the others. */
export interface Hops {
  readonly commitMs: number[]
  readonly plainMs: number[]
  readonly hopMs: number[]
}

const table = 'create table raw_row (id uuid primary key default uuidv7(), payload bytea not null)'
const insert = { name: 'insert', text: 'insert into raw_row (payload) values ($1)' }
const payload = Buffer.alloc(64)
const warmUpCount = 50
const pair = {
  kind: 'pair',
  members: ['a', 'b'].map((name) => ({ name, kind: name })),
  edges: [{ upstream: 'a', downstream: 'b' }],
}

await serve<Hops>(async (input) => {
  const { url, count } = input as HopInput
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(table)
  const ff = await connect(url)
  await measure(client, ff, warmUpCount)
  return {
    obey: () => measure(client, ff, count),
    async close() {
      await ff.close()
      await client.end()
    },
  }
})

async function measure(client: pg.Client, { engine }: FlowFabric, count: number): Promise<Hops> {
  const hops: Hops = { commitMs: [], plainMs: [], hopMs: [] }
  for (let done = 0; done < count; done++) {
    hops.commitMs.push(await timed(() => client.query({ ...insert, values: [payload] })))
    await engine.executions.createMany([{ kind: 'a' }, { kind: 'b' }])
    hops.plainMs.push(await hop(engine))
    const { flowId } = await engine.flows.submitGraph(pair)
    hops.hopMs.push(await hop(engine))
    await engine.flows.wait(flowId)
  }
  return hops
}

/** From the completion of the first to the claim of the second. */
async function hop(engine: Engine): Promise<number> {
  const first = await claim(engine, 'a')
  let second: Claim | undefined
  const ms = await timed(async () => {
    await engine.executions.complete(fenceOf(first))
    second = await claim(engine, 'b')
  })
  await engine.executions.complete(fenceOf(second!))
  return ms
}

async function claim({ executions }: Engine, kind: string): Promise<Claim> {
  const worker = { workerId: 'bench', workerInstanceId: randomUUID(), lanes: ['default'], kinds: [kind] }
  const { claims } = await executions.claim({ ...worker, max: 1, wait: '10s' })
  if (claims.length !== 1) throw new Error('there was nothing to claim')
  return claims[0]!
}

function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
