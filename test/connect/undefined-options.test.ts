// An option that is undefined counts as not given, where it has a default.
import { beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { task } from '../../src/worker/task.ts'

let ff: FlowFabric
const said: string[] = []
const logger = { debug() {}, info: (message: string) => void said.push(message), warn() {}, error() {} }

beforeAll(async () => {
  ff = await connect('memory:', { logger })
  return () => ff.close()
})

const retry = { attempts: 7, backoff: { type: 'fixed', delayMs: 5 } } as const
const report = task('report', { lane: 'reports', retry }, () => {})

test('of a schedule', async () => {
  const given = { lane: undefined, policy: { attemptTimeoutMs: '5m' } } as never as object
  await ff.schedules.put('nightly', { task: report, every: '1h', ...given })
  expect(await ff.schedules.describe('nightly')).toMatchObject({
    lane: 'reports',
    policy: { retry: { attempts: 7 }, attemptTimeoutMs: 300_000 },
  })
})

test('of a flow, a flow within it, and their members', async () => {
  const nothing = { kind: undefined, lane: undefined } as never as { kind?: string }
  const flow = await ff.flow(
    (f) => {
      f.add(report, undefined, { lane: undefined, policy: { attemptTimeoutMs: '5m' } } as never)
      f.add('raw', 1, { lane: undefined } as never)
      f.flow('within', (inner) => void inner.add('raw', 1), { kind: undefined } as never)
    },
    { kind: nothing.kind } as never,
  )
  expect(await flow.describe()).toMatchObject({ kind: 'flow' })
  expect(await ff.engine.executions.describe(flow.members['report']!)).toMatchObject({
    lane: 'reports',
    policy: { retry: { attempts: 7 }, attemptTimeoutMs: 300_000 },
  })
})

test("of a worker: the lease lasts as long as the database's default, and the logger is that of the connection", async () => {
  const looks = task('looks', async (ctx) => {
    ctx.logger.info('heard')
    const found = await ff.engine.executions.describe(ctx.executionId)
    return found!.lease!.expiresAt - (await ff.engine.serverTime())
  })
  const worker = ff.worker({ tasks: [looks], leaseTtl: undefined, logger: undefined, handleSignals: false } as never)
  await worker.start()
  const run = await ff.submit(looks)
  expect(await run.result()).toBeGreaterThan(30_000)
  expect(said).toContain('heard')
  await worker.stop()
})
