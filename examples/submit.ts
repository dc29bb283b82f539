import { connect, jsonCodec } from 'flowfabric'

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const { executions } = ff.engine

const { bytes, encoding } = jsonCodec.encode({ email: 'ada@example.com' })
const { executionId } = await executions.create({
  kind: 'send-welcome',
  payload: bytes,
  payloadEncoding: encoding,
  lane: 'mail',
  priority: 100,
  tags: { customer: 'ada' },
  idempotencyKey: 'welcome-ada',
})

await executions.describe(executionId) // a snapshot, or null
await executions.list({ lane: 'mail', state: 'waiting' }) // a page, with a cursor to the next
await executions.cancel({ executionId, reason: 'Ada called' })
await ff.close()
