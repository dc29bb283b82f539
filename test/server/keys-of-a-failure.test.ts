// Keys that may submit or work, but not read: the details that they receive of a failed execution.
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Scope } from '../../src/model/api-key.ts'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { EngineError } from '../../src/model/errors.ts'
import { handleOf } from '../../src/connect/handle.ts'
import { task } from '../../src/worker/task.ts'
import { listenWith } from '../support/serve-http.ts'
import { createApp } from '../../src/server/app.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { patience } from '../support/patience.ts'

const once = { attempts: 1 } as const
const broken = task('broken', { retry: once }, () => {
  throw new Error('out of order')
})
const parent = task('parent', { retry: once }, async (ctx) => ctx.run(broken))

async function served(engine: Engine) {
  const app = createApp(engine)
  const server = await listenWith(app.fetch)
  onTestFinished(async () => {
    app.stop()
    await server.close()
  })
  return async (scope: Scope, codec: Codec = jsonCodec): Promise<FlowFabric> => {
    const { key } = await engine.apiKeys.create({ name: scope, scopes: [scope] })
    const ff = await connect(server.url, { token: key, codec })
    onTestFinished(() => ff.close())
    return ff
  }
}

test('a key that submits receives the reason why its run failed, and a worker with its own codec the reason why a child did', async () => {
  const { engine } = await setup()
  const as = await served(engine)
  const codec: Codec = { encode: jsonCodec.encode, decode: jsonCodec.decode }
  const [submitter, worker] = [await as('submit', codec), await as('worker', codec)]
  const working = worker.worker({ tasks: [parent, broken], handleSignals: false })
  onTestFinished(() => working.stop({ grace: 0 }))
  await working.start()
  const run = await submitter.submit(parent)
  const error = await refusal('execution_failed', run.result({ timeout: patience(60_000) }))
  expect(error).toMatchObject({
    details: { error: { name: 'ChildError', message: expect.stringMatching('out of order') } },
  })
})

test('a caller that may not list the attempts receives the reason only', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w', lanes: ['default'] })
  const { leaseId, leaseEpoch } = claims[0]!
  await engine.executions.fail({ executionId, leaseId, leaseEpoch, reason: 'no', permanent: true })
  const attempts = { ...engine.attempts, list: () => Promise.reject(new EngineError('forbidden', 'not with this key')) }
  const handle = handleOf({ ...engine, attempts }, jsonCodec, executionId, {})
  expect(await refusal('execution_failed', handle.result())).toMatchObject({ details: { reason: 'no' } })
})

test("a worker's key may read suspensions and signals", async () => {
  const { engine } = await setup()
  const as = await served(engine)
  const { engine: worker } = await as('worker')
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect(await worker.suspensions.describe(executionId)).toBeNull()
  expect((await worker.signals.list(executionId)).signals).toEqual([])
})
