// A worker that completes its claims, and is killed before it does the work that the endings owe.
import { createEngine } from '../../src/engine/engine.ts'
import { openPostgres } from '../../src/sql/postgres.ts'

const [url = ''] = process.argv.slice(2)
const sql = await openPostgres({ url, schema: 'flowfabric' })
const { executions } = createEngine(sql)
const worker = { workerId: 'w', workerInstanceId: 'victim', lanes: ['default'] }
const { claims } = await executions.claim({ ...worker, max: 10 })
const fences = claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch }))
const answers = await executions.completeMany(fences)
process.send!({ completed: answers.filter(({ kind }) => kind === 'completed').length })
