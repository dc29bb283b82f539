// A first look: work is accepted, listed, described and cancelled, on a database in a folder, without any server.
// Then the process lets go of the folder, opens it again, and everything is still there.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, EngineError, jsonCodec, type Execution } from 'flowfabric'

const folder = await mkdtemp(join(tmpdir(), 'flowfabric-'))

title('1. Work is accepted')
const ff = await connect(`file:${folder}`)
const { executions } = ff.engine
const welcome = await executions.create({
  kind: 'send-welcome',
  ...input({ email: 'ada@example.com' }),
  tags: { customer: 'ada' },
  priority: 100,
})
const accepted = await executions.createMany([
  { kind: 'resize-image', lane: 'media', ...input({ file: 'cat.png' }), requiredCapabilities: ['gpu'] },
  { kind: 'send-reminder', ...input({ email: 'ada@example.com' }), tags: { customer: 'ada' }, delay: '2d' },
  { kind: 'close-books', lane: 'finance', deadline: '8h', idempotencyKey: 'books-2026-11' },
  { kind: 'close-books', lane: 'finance', deadline: '8h', idempotencyKey: 'books-2026-11' },
  { kind: 'send-welcome', policy: { retry: { attempts: 0 } } },
])
for (const answer of [welcome, ...accepted]) {
  console.log(
    answer.kind === 'refused'
      ? `refused    ${answer.error.message}`
      : `${answer.kind.padEnd(10)} ${answer.executionId}`,
  )
}

title('2. What there is, newest first')
show((await executions.list()).executions)

title("3. Only Ada's")
show((await executions.list({ tag: { key: 'customer', value: 'ada' } })).executions)

title('4. One of them is cancelled')
await executions.cancel({ executionId: welcome.executionId, reason: 'Ada called' })
const described = await executions.describe(welcome.executionId)
console.log(
  `${described?.kind} is ${described?.publicState}: ${described?.cancellationReason} (by ${described?.cancelledBy})`,
)

title('5. A mistake says what to do')
try {
  await executions.list({ lane: 'media', state: 'wating' as 'waiting' })
} catch (error) {
  if (error instanceof EngineError) console.log(`${error.code}: ${error.message}`)
}

title('6. The process ends; the work does not')
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
