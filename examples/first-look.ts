// A first look, on a database in a folder, without any server. Executions are accepted, run by a worker, retried when
// they fail, and reclaimed by another worker when theirs dies. They survive a restart of the process.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, encodeError, EngineError, jsonCodec } from 'flowfabric'
import type { Claim, Execution } from 'flowfabric'

const folder = await mkdtemp(join(tmpdir(), 'flowfabric-'))

title('1. Work is accepted')
const ff = await connect(`file:${folder}`)
const { executions, events } = ff.engine
const accepted = await executions.createMany([
  { kind: 'send-welcome', ...input({ to: 'ada@example.com' }), tags: { customer: 'ada' }, priority: 100 },
  {
    kind: 'charge-card',
    ...input({ amount: 42 }),
    policy: { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: '100ms' } } },
  },
  { kind: 'render-report', ...input({ pages: 7 }) },
  { kind: 'send-reminder', ...input({ to: 'ada@example.com' }), tags: { customer: 'ada' }, delay: '2d' },
  { kind: 'close-books', lane: 'finance', deadline: '8h', idempotencyKey: 'books-2026-11' },
  { kind: 'close-books', lane: 'finance', deadline: '8h', idempotencyKey: 'books-2026-11' },
  { kind: 'send-welcome', policy: { retry: { attempts: 0 } } },
])
for (const answer of accepted) {
  console.log(
    answer.kind === 'refused'
      ? `refused    ${answer.error.message}`
      : `${answer.kind.padEnd(10)} ${answer.executionId}`,
  )
}

title('2. What there is, newest first')
show((await executions.list()).executions)

title('3. A worker takes the report, and dies')
// This worker neither renews its lease nor completes the execution.
const { claims } = await executions.claim({ ...worker('doomed'), kinds: ['render-report'], leaseTtl: '300ms' })
const report = claims[0]!
console.log(`${report.kind} is held by doomed until its lease runs out`)

title('4. Another works: failed work is retried, lost work is reclaimed')
const supervisor = ff.supervise() // promotes delayed executions, reclaims those of dead workers
for (let ended = 0; ended < 3;) {
  const taken = await executions.claim({ ...worker('steady'), max: 10, wait: '5s' })
  for (const claim of taken.claims) ended += (await handle(claim)) ? 1 : 0
}
await supervisor.stop()

title('5. What happened to the report')
const { events: happened } = await events.timeline(report.executionId)
for (const event of happened) {
  const { kind, outcome, workerInstanceId, leaseEpoch } = event
  console.log(`${kind.padEnd(9)} ${(outcome ?? '').padEnd(8)} ${workerInstanceId ?? ''}, epoch ${leaseEpoch}`)
}

title('6. A mistake says what to do')
try {
  await executions.list({ lane: 'finance', state: 'wating' as 'waiting' })
} catch (error) {
  if (error instanceof EngineError) console.log(`${error.code}: ${error.message}`)
}

title('7. The process ends; the work does not')
await ff.close()
const again = await connect(`file:${folder}`)
const counts = Object.entries(await again.engine.executions.countByState())
console.log(
  counts
    .filter(([, { count }]) => count > 0)
    .map(([state, { count }]) => `${count} ${state}`)
    .join(', '),
)
await again.close()
await rm(folder, { recursive: true })

/** Returns whether it ended. */
async function handle(claim: Claim): Promise<boolean> {
  const { executionId, leaseId, leaseEpoch, kind, attemptIndex, reason } = claim
  const fence = { executionId, leaseId, leaseEpoch }
  const what = `${kind} (${reason}, attempt ${attemptIndex + 1})`
  try {
    if (kind === 'charge-card' && attemptIndex === 0) throw new Error('the bank did not answer')
    const { bytes, encoding } = jsonCodec.encode({ done: true })
    await executions.complete({ ...fence, result: bytes, resultEncoding: encoding })
    console.log(`${what} is done`)
    return true
  } catch (error) {
    const { bytes, encoding } = encodeError(error)
    const answer = await executions.fail({ ...fence, reason: String(error), error: bytes, errorEncoding: encoding })
    console.log(`${what} failed: ${String(error)}; ${answer.kind}`)
    return answer.kind === 'failed'
  }
}

function worker(name: string) {
  return { workerId: name, workerInstanceId: name, lanes: ['default'] }
}

function input(value: unknown) {
  const { bytes, encoding } = jsonCodec.encode(value)
  return { payload: bytes, payloadEncoding: encoding }
}

function show(rows: readonly Execution[]): void {
  for (const { kind, lane, publicState, blockingDetail } of rows) {
    console.log(`${kind.padEnd(14)} ${lane.padEnd(8)} ${publicState.padEnd(8)} ${blockingDetail ?? ''}`)
  }
}

function title(text: string): void {
  console.log(`\n${text}`)
}
