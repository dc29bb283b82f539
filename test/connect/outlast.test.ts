// Waits over a loss of Postgres that is shorter than their own limit.
import { expect, onTestFinished, test } from 'vitest'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { task } from '../../src/index.ts'
import { listen } from '../support/serve-http.ts'
import { refusal } from '../support/refusal.ts'
import { emptyDatabase, open } from './empty-database.ts'
import { startOutageProxy } from './outage-proxy.ts'

const one = task('one', async () => 1)

async function start(kind: 'postgres' | 'http') {
  const url = await emptyDatabase()
  const direct = await open(url)
  const proxy = await startOutageProxy(url)
  const behind = await open(proxy.url)
  if (kind === 'postgres') return { direct, proxy, ff: behind }
  const server = await listen(behind.engine)
  onTestFinished(() => server.close())
  return { direct, proxy, ff: await open(server.url) }
}

async function work(direct: FlowFabric): Promise<void> {
  const worker = direct.worker({ tasks: [one], duties: false })
  await worker.start()
  onTestFinished(() => worker.stop())
}

test.each(['postgres', 'http'] as const)(
  '%s: results, flows and a subscription are delivered after Postgres was away',
  async (kind) => {
    const { direct, proxy, ff } = await start(kind)
    const run = await ff.submit(one)
    const flow = await ff.flow((f) => f.add(one))
    const events = await ff.engine.events.subscribe({ kinds: ['ended'] })
    const waits = [
      run.result({ timeout: '2m' }),
      run.result(),
      flow.result({ timeout: '2m' }),
      flow.wait({ timeout: '2m' }).then(({ state }) => state),
      flow.wait().then(({ state }) => state),
    ]
    const settled = Promise.allSettled(waits)
    await proxy.takeAway()
    proxy.giveBack()
    await work(direct)
    expect((await settled).map((each) => (each.status === 'fulfilled' ? each.value : each.reason))).toEqual([
      1,
      1,
      1,
      'completed',
      'completed',
    ])
    expect((await events.next()).done).toBe(false)
    expect((await events.next()).done).toBe(false)
    await events.return()
  },
)

test('a wait whose limit ends while Postgres is away fails with that reason, and the error says that it changed nothing', async () => {
  const { proxy, ff } = await start('postgres')
  const run = await ff.submit(one)
  const waiting = refusal('database_unreachable', run.result({ timeout: '500ms' }))
  await proxy.takeAway()
  const error = await waiting
  expect(error.retryable).toBe(true)
  expect(error.message).not.toContain('Whether')
  proxy.giveBack()
})
