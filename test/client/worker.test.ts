import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { task } from '../../src/worker/task.ts'
import { listen } from '../support/serve-http.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'

async function served(): Promise<FlowFabric> {
  const { engine } = await setup()
  const server = await listen(engine)
  const ff = await connect(server.url)
  onTestFinished(async () => {
    await ff.close()
    await server.close()
  })
  return ff
}

test('a worker runs on a server as it does on a database: steps, waits, children, results', async () => {
  const ff = await served()
  const child = task('child', async (_, n: number) => n * 2)
  const parent = task('parent', async (ctx, n: number) => {
    const first = await ctx.step('first', () => n + 1)
    const answer = await ctx.waitFor('go')
    return [first, answer, await ctx.run(child, first)]
  })
  const worker = ff.worker({ tasks: [parent, child], handleSignals: false })
  await worker.start()
  const run = await ff.submit(parent, 4)
  await run.signal('go', 'now')
  expect(await run.result()).toEqual([5, 'now', 10])
  await worker.stop()
})

test('a cancel reaches the code that runs on the other side of a server', async () => {
  const ff = await served()
  let started = (): void => {}
  const running = new Promise<void>((resolve) => (started = resolve))
  const patient = task('patient', async (ctx) => {
    started()
    await once(ctx.abort, 'abort')
  })
  const worker = ff.worker({ tasks: [patient], handleSignals: false })
  await worker.start()
  const run = await ff.submit(patient)
  await running
  await run.cancel()
  await refusal('execution_cancelled', run.result())
  await worker.stop()
  expect(worker.running).toBe(0)
})

test('a worker that stops gives back its runs, and those of a claim whose answer it never received', async () => {
  const ff = await served()
  const idle = task('idle', async () => {})
  const worker = ff.worker({ tasks: [idle], handleSignals: false })
  await worker.start()
  // A claim of its own instance that the worker does not know: as if its answer had been lost.
  const { executionId } = await ff.engine.executions.create({ kind: 'other' })
  const lost = { workerId: 'worker', workerInstanceId: worker.instanceId, lanes: ['default'], kinds: ['other'] }
  expect((await ff.engine.executions.claim(lost)).claims).toHaveLength(1)
  await worker.stop()
  expect((await ff.engine.executions.describe(executionId))?.publicState).toBe('waiting')
})

test('operations on the database itself are refused over HTTP, and the error says what to do', async () => {
  const ff = await served()
  const anything = task('anything', async () => {})
  const refused = async (act: () => unknown) => refusal('unsupported', (async () => act())())
  expect((await refused(() => ff.within({ query: async () => ({ rows: [] }) }))).message).toContain('postgres://')
  expect((await refused(() => ff.supervise())).message).toContain('the server')
  expect((await refused(() => ff.worker({ tasks: [anything], duties: true }))).message).toContain('the server')
})

test.each(['migrate', 'schema', 'listenUrl', 'prepare', 'poolSize', 'signing'])(
  'the option %s is only for a process that opens the database',
  async (field) => {
    const error = await refusal('invalid_input', connect('http://127.0.0.1:1', { [field]: 'x' }))
    expect(error.message).toContain('the server')
    expect(error.details).toEqual({ field })
  },
)

test.each(['token', 'timeout', 'retryFor'])('the option %s is refused for the embedded database', async (field) => {
  const error = await refusal('invalid_input', connect('memory:', { [field]: '1s' }))
  expect(error.message).toContain('http://')
})
