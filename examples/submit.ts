import { connect } from 'flowfabric'

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const { executions } = ff.engine

const { executionId } = await executions.create({
  kind: 'send-welcome',
  input: { email: 'ada@example.com' },
  lane: 'mail',
  priority: 100,
  tags: { customer: 'ada' },
  idempotencyKey: 'welcome-ada',
})

const snapshot = await executions.describe(executionId) // null when it does not exist
console.log(`${snapshot?.kind} is ${snapshot?.publicState}`)
const page = await executions.list({ lane: 'mail', state: 'waiting' }) // with a cursor to the next
console.log(`waiting in lane mail: ${page.executions.length}`)
await executions.cancel({ executionId, reason: 'Ada called' })
console.log('cancelled')
await ff.close()
