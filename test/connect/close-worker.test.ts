// A close with workers: they are stopped, and runs that exceed their grace are given back.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { task } from '../../src/worker/task.ts'
import { listen } from '../support/serve-http.ts'
import { emptyDatabase, open } from './empty-database.ts'

/** Closes while a run hangs, with time that passes by the second. */
async function closeWhileOneHangs(ff: FlowFabric, options: { grace?: string } = {}): Promise<void> {
  let isRunning = false
  const hangs = task('hangs', () => {
    isRunning = true
    return new Promise<void>(() => {})
  })
  const worker = ff.worker({ tasks: [hangs], handleSignals: false, ...(options as object) })
  await worker.start()
  await ff.submit(hangs)
  await expect.poll(() => isRunning, { interval: 10 }).toBe(true)
  const timers = vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const endings: string[] = []
  void ff.close().then(() => endings.push('closed'))
  for (let round = 1; round <= 500 && endings.length === 0; round += 1) {
    timers.advanceTimersByTime(500)
    // Sockets keep their own time.
    for (let turn = 0; turn < 20 && endings.length === 0; turn += 1) await sleep(5)
  }
  expect(endings).toEqual(['closed'])
  vi.useRealTimers()
}

test('running work is given back before the engine closes', async () => {
  const url = await emptyDatabase()
  await closeWhileOneHangs(await connect(url))
  const ff = await open(url)
  expect(await ff.engine.executions.countByState()).toMatchObject({ waiting: { count: 1 }, active: { count: 0 } })
})

test('over HTTP a close takes no longer, whatever the grace of a worker', async () => {
  const behind = await open(await emptyDatabase())
  const server = await listen(behind.engine)
  onTestFinished(() => server.close())
  await closeWhileOneHangs(await connect(server.url), { grace: '1h' })
  expect(await behind.engine.executions.countByState()).toMatchObject({ waiting: { count: 1 }, active: { count: 0 } })
})
