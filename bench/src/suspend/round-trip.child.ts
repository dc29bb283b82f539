// The process that measures one wait at a time, with nothing else to do: suspended, signalled by its token, claimed
// again. Next to each, a single row is inserted and committed by a connection of its own.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { connect } from '../../../src/index.ts'
import type { Claim, FlowFabric } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface RoundTripInput {
  readonly url: string
  readonly count: number
}

/** In milliseconds, each beside the other. */
export interface RoundTrips {
  readonly commitMs: number[]
  readonly tripMs: number[]
}

const table = 'create table raw_row (id uuid primary key default uuidv7(), payload bytea not null)'
const insert = { name: 'insert', text: 'insert into raw_row (payload) values ($1)' }
const payload = Buffer.alloc(64)
const warmUpCount = 50

await serve<RoundTrips>(async (input) => {
  const { url, count } = input as RoundTripInput
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

async function measure(client: pg.Client, ff: FlowFabric, count: number): Promise<RoundTrips> {
  const trips: RoundTrips = { commitMs: [], tripMs: [] }
  for (let done = 0; done < count; done++) {
    trips.commitMs.push(await timed(() => client.query({ ...insert, values: [payload] })))
    await ff.engine.executions.create({ kind: 'k' })
    const first = await claim(ff)
    let second: Claim | undefined
    const roundTrip = async (): Promise<void> => {
      await answer(ff, first)
      second = await claim(ff)
    }
    trips.tripMs.push(await timed(roundTrip))
    await ff.engine.executions.complete(fenceOf(second!))
  }
  return trips
}

async function answer({ engine }: FlowFabric, held: Claim): Promise<void> {
  const condition = { kind: 'signal', waitpoint: 'answer' } as const
  const suspended = await engine.executions.suspend({ ...fenceOf(held), condition })
  if (suspended.kind !== 'suspended') throw new Error(`it was not suspended: ${suspended.kind}`)
  const { waitpointId, token } = suspended.waitpoints[0]!
  await engine.signals.deliver({ waitpointId, token: token!, name: 'yes' })
}

async function claim({ engine }: FlowFabric): Promise<Claim> {
  const worker = { workerId: 'bench', workerInstanceId: randomUUID(), lanes: ['default'] }
  const { claims } = await engine.executions.claim({ ...worker, max: 1 })
  if (claims.length !== 1) throw new Error('there was nothing to claim')
  return claims[0]!
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}
