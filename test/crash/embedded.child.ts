// Opens an embedded directory and brings executions into every state that a worker can leave them in. Then it reports
// that and creates executions until it is killed.
import { connect } from '../../src/connect/connect.ts'
import type { Said } from './said.ts'

const [url = ''] = process.argv.slice(2)
const { engine } = await connect(url)
const { executions } = engine
const retry = { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } as const
await executions.createMany(Array.from({ length: 10 }, () => ({ kind: 'k', policy: { retry } })))
const request = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], max: 8, leaseTtl: 3000 }
const { claims } = await executions.claim(request)
const fences = claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch }))
await executions.completeMany(fences.slice(0, 2).map((fence) => ({ ...fence, result: Buffer.from('done') })))
await executions.fail({ ...fences[2]!, reason: 'broke' })
await executions.delay({ ...fences[3]!, for: '1h' })
await executions.cancel({ executionId: fences[4]!.executionId })
process.send!({ fences })
for (;;) {
  const { executionId } = await executions.create({ kind: 'k' })
  process.send!({ created: executionId } satisfies Said)
}
