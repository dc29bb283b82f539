// A process as people run it: it submits, works, renews leases and runs duties, whatever happens to the database or to
// its peers. It reports the answers it received. After a message it ends as soon as no work is left.
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient } from '../../src/client/open.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { Supervisor } from '../../src/engine/duties/supervisor.ts'
import type { Claim } from '../../src/engine/execution/claim.ts'
import { EngineError, type ErrorCode } from '../../src/model/errors.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Said } from './said.ts'

const [url = '', workerInstanceId = ''] = process.argv.slice(2)
const { executions, close } = await (url.startsWith('http') ? onServer() : onDatabase())
const retry = { attempts: 3, backoff: { type: 'fixed', delayMs: 20 } } as const
const lost: readonly ErrorCode[] = ['lease_expired', 'stale_lease', 'execution_not_active']
const finishing = new AbortController()
process.once('message', () => finishing.abort())

await Promise.all([submit(), work(), work()])
await close()
process.disconnect()

async function onServer() {
  const client = await openClient(url)
  return { executions: client.engine.executions, close: () => client.close(1000) }
}

async function onDatabase() {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  const supervisor = new Supervisor(sql, { intervals: { 'delayed-promoter': 100, 'lease-expiry': 100 } })
  supervisor.start()
  const close = async (): Promise<void> => {
    await supervisor.stop()
    await sql.close()
  }
  return { executions: createEngine(sql).executions, close }
}

function say(message: Said): void {
  process.send!(message)
}

async function submit(): Promise<void> {
  for (let count = 0; !finishing.signal.aborted; count += 1) {
    const executionId = mintExecutionId()
    const delay = count % 5 === 0 ? { delay: 50 } : {}
    await insist(() => executions.create({ executionId, kind: 'k', policy: { retry }, ...delay }))
    say({ created: executionId })
    await sleep(5)
  }
}

async function work(): Promise<void> {
  for (let count = 0; !finishing.signal.aborted || (await isAnythingLeft()); count += 1) {
    const answer = await insist(() =>
      executions.claim({ workerId: 'w', workerInstanceId, lanes: ['default'], max: 5, wait: 100, leaseTtl: 1000 }),
    )
    const claims = answer?.claims ?? []
    await insist(() => executions.renew({ workerInstanceId, leases: claims.map(fenceOf), leaseTtl: 1000 }))
    await Promise.all(claims.map((claim, index) => finish(claim, count + index)))
  }
}

async function finish(claim: Claim, number: number): Promise<void> {
  const fence = fenceOf(claim)
  // Dropped: the lease expires, and another process takes the execution over.
  if (number % 13 === 0 && claim.reason !== 'reclaim') return
  if (number % 7 === 0) return void (await insist(() => executions.fail({ ...fence, reason: 'broke' })))
  if (number % 5 === 0) return void (await insist(() => executions.delay({ ...fence, for: 20 })))
  const answer = await insist(() => executions.complete(fence))
  if (answer !== null) say({ completed: claim.executionId })
}

async function isAnythingLeft(): Promise<boolean> {
  const states = ['waiting', 'delayed', 'active', 'resumable'] as const
  const counts = await insist(() => executions.countByState())
  return counts === null || states.some((state) => counts[state].count > 0)
}

/** Repeats requests that may succeed when they are sent again; null when the lease is lost. */
async function insist<Answer>(call: () => Promise<Answer>): Promise<Answer | null> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!EngineError.is(error)) throw error
      if (lost.includes(error.code)) return null
      if (!error.retryable) throw error
      await sleep(20)
    }
  }
}

function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}
