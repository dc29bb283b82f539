import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { task } from '../../src/worker/task.ts'
import { startChild, type Child } from '../support/child.ts'
import { listen } from '../support/serve-http.ts'
import { setup } from '../support/setup.ts'

const patient = { interval: 20 }

const visible = task('visible', async (ctx, name: string) => {
  await ctx.step('effect', () => name)
  return 'by the other worker'
})

async function isLeased(engine: Engine): Promise<boolean> {
  const { executions } = await engine.executions.list({ state: 'active' })
  return executions.length > 0
}

async function nextBegun(child: Child): Promise<string> {
  return ((await child.next()) as { began: string }).began
}

test('a worker that was frozen while its claim was answered does not start work that another worker has done', async () => {
  const { engine, url } = await setup()
  const server = await listen(engine)
  onTestFinished(() => server.close())
  const child = startChild(new URL('./frozen.child.ts', import.meta.url), { args: [server.url] })
  expect(await nextBegun(child)).toBe('the worker')
  const ff = await connect(url)
  onTestFinished(() => ff.close())
  // Its claim was answered, so it waits in the next one.
  const warm = await ff.submit(visible, 'warm')
  expect(await warm.result()).toBe('by the frozen worker')
  expect([await nextBegun(child), await nextBegun(child)]).toEqual(['handler warm', 'step warm'])

  process.kill(child.pid, 'SIGSTOP')
  const run = await ff.submit(visible, 'lost')
  await expect.poll(() => isLeased(engine), patient).toBe(true)
  const other = ff.worker({ tasks: [visible], handleSignals: false })
  await other.start()
  expect(await run.result()).toBe('by the other worker')
  await other.stop()

  process.kill(child.pid, 'SIGCONT')
  const last = await ff.submit(visible, 'last')
  expect(await last.result()).toBe('by the frozen worker')
  expect([await nextBegun(child), await nextBegun(child)]).toEqual(['handler last', 'step last'])
})
