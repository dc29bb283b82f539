// The process that measures executions which wait in between. Each lap is run by one peer and one process, in turn: a
// plain drain, the same with a wait for a signal in each, and the duty that times out waits without a signal.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import { connect } from '../../../src/index.ts'
import type { Claim, Engine } from '../../../src/index.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'
import { serve } from '../child.ts'
import { drain, load } from '../drain/drain.ts'
import { flowfabric, setSize } from '../peers/flowfabric.ts'
import { bySets } from '../../../src/model/sets.ts'

export interface SuspendInput {
  readonly url: string
  readonly warmUpCount: number
}

export interface SuspendOrder {
  readonly act: keyof typeof laps
  readonly count: number
}

const laps = { plain, signalled, timedOut }

await serve<{ readonly ms: number }, SuspendOrder>(async (input) => {
  const { url, warmUpCount } = input as SuspendInput
  for (const lap of Object.values(laps)) await lap(url, warmUpCount)
  return { obey: ({ act, count }) => laps[act](url, count), close: async () => {} }
})

async function plain(url: string, count: number): Promise<{ ms: number }> {
  await load(flowfabric, url, count)
  return drain(flowfabric, url, count)
}

/** All are claimed; then all are suspended, all are signalled, and a worker resumes and completes them all. */
async function signalled(url: string, count: number): Promise<{ ms: number }> {
  const ff = await connect(url)
  const { executions, signals } = ff.engine
  const claims = await hold(url, ff.engine, count)
  const startedAt = performance.now()
  const condition = { kind: 'signal', waitpoint: 'answer' } as const
  const suspended = await bySets(
    claims.map((claim) => ({ ...fenceOf(claim), condition })),
    (set) => executions.suspendMany(set),
  )
  const answers = suspended.map((answer) => {
    if (answer.kind !== 'suspended') throw new Error(`an execution was not suspended: ${answer.kind}`)
    const { waitpointId, token } = answer.waitpoints[0]!
    return { waitpointId, token: token!, name: 'yes' }
  })
  const accepted = await bySets(answers, (set) => signals.deliverMany(set))
  if (accepted.some((answer) => answer.kind !== 'accepted')) throw new Error('a signal was not accepted')
  const signalledMs = performance.now() - startedAt
  const { ms } = await drain(flowfabric, url, count)
  await ff.close()
  return { ms: signalledMs + ms }
}

/** All are suspended, and their time is over; then the duty ends them, set by set. */
async function timedOut(url: string, count: number): Promise<{ ms: number }> {
  const ff = await connect(url)
  const claims = await hold(url, ff.engine, count)
  const condition = { kind: 'signal', waitpoint: 'answer' } as const
  await bySets(
    claims.map((claim) => ({ ...fenceOf(claim), condition, timeout: 1 })),
    (set) => ff.engine.executions.suspendMany(set),
  )
  await setTimeout(10)
  await ff.close()
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  const startedAt = performance.now()
  let sweptCount = 0
  for (let isFull = true; isFull;) {
    const run = await suspensionTimeout.runOnce(sql)
    sweptCount += run.processed
    isFull = run.isFull
  }
  const ms = performance.now() - startedAt
  await sql.close()
  if (sweptCount !== count) throw new Error(`${sweptCount} were swept; ${count} had run out of time`)
  return { ms }
}

async function hold(url: string, { executions }: Engine, count: number): Promise<Claim[]> {
  await load(flowfabric, url, count)
  const held: Claim[] = []
  while (held.length < count) {
    const worker = { workerId: 'bench', workerInstanceId: randomUUID(), lanes: ['default'] }
    const { claims } = await executions.claim({
      ...worker,
      max: Math.min(setSize, count - held.length),
      leaseTtl: '1h',
    })
    held.push(...claims)
  }
  return held
}

function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}
