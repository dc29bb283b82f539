// The statements of a wait of durable code, in order. Those that share a round trip are one entry. A claim, which is not part of a set,
// is not recorded.
import { expect, onTestFinished, test } from 'vitest'
import { submit } from '../../src/connect/submit.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { around } from '../../src/sql/around.ts'
import type { Call } from '../../src/sql/sql.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup } from '../support/setup.ts'

/** A worker on an engine that records its statements, and also those of the test itself. */
async function watched<In, Out>(code: Task<In, Out>) {
  const { sql, ...rest } = await setup()
  const sent: string[] = []
  const namesOf = (calls: readonly Call[]): string[] => calls.map(({ statement }) => statement.name)
  const engine = createEngine({
    ...around(sql, (ask) => ask()),
    pipeline: (calls, options) => {
      sent.push(namesOf(calls).join(' and '))
      return sql.pipeline(calls, options)
    },
    decide: (reads, decide, options) => {
      sent.push(...namesOf(reads))
      return sql.decide(
        reads,
        (rows) => {
          const writes = decide(rows)
          sent.push(...namesOf(writes))
          return writes
        },
        options,
      )
    },
  })
  const worker = new Worker({ tasks: [code], leaseTtl: '1m', handleSignals: false }, { engine, codec: jsonCodec })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const run = await submit(engine, jsonCodec, code as Task, undefined, {})
  await worker.tick()
  /** Statements sent since the last call. */
  const takeSent = (): string[] => sent.splice(0)
  const sentBy = async (act: () => Promise<unknown>): Promise<string[]> => {
    takeSent()
    await act()
    return takeSent()
  }
  return { ...rest, sql, engine, worker, run, takeSent, sentBy }
}

const suspends = 'suspension.record-directly and suspension.park'
const resumes = ['step.record', 'execution.complete.whole']

test('a wait by name takes one round trip to suspend, one to signal, and completes in one', async () => {
  const ask = task('ask', (ctx) => ctx.waitFor('answer'))
  const { run, worker, takeSent, sentBy } = await watched(ask)
  expect(takeSent().at(-1)).toBe(suspends)
  expect(await sentBy(() => run.signal('answer', 'yes'))).toEqual(['signal.settle'])
  expect(await sentBy(() => worker.tick())).toEqual(resumes)
  expect(await run.result()).toBe('yes')
})

test('a wait with a timeout, and a wait with a named waitpoint answered by its token, take as few statements', async () => {
  const tokens: string[] = []
  const ask = task('ask', async (ctx) => {
    const approval = await ctx.waitpoint('approval')
    await ctx.step('mail', async () => tokens.push(await approval.token()))
    return ctx.waitFor(approval, { timeout: '1d' })
  })
  const { run, engine, worker, takeSent, sentBy } = await watched(ask)
  expect(takeSent().at(-1)).toBe(suspends)
  const [waitpoint] = (await engine.waitpoints.list(run.id)).waitpoints
  const { bytes } = jsonCodec.encode('yes')
  const answer = { waitpointId: waitpoint!.waitpointId, token: tokens[0]!, name: 'answer', payload: bytes }
  expect(await sentBy(() => engine.signals.deliver(answer))).toEqual(['signal.settle'])
  expect(await sentBy(() => worker.tick())).toEqual(resumes)
  expect(await run.result()).toBe('yes')
})

test('the second wait of a run closes the waitpoint that the first has left, in its one round trip', async () => {
  const ask = task('ask', async (ctx) => [await ctx.waitFor('first'), await ctx.waitFor('second')])
  const { run, engine, worker, sentBy } = await watched(ask)
  await run.signal('first', 1)
  expect((await engine.waitpoints.list(run.id)).waitpoints).toMatchObject([{ key: 'first', state: 'pending' }])
  expect((await sentBy(() => worker.tick())).at(-1)).toBe(suspends)
  expect((await engine.waitpoints.list(run.id)).waitpoints).toMatchObject([{ key: 'second', state: 'active' }])
  await run.signal('second', 2)
  await worker.tick()
  expect(await run.result()).toEqual([1, 2])
})

test('a wait reads the facts after an early signal, an answered waitpoint or a kept waitpoint', async () => {
  const tokens: string[] = []
  const ask = task('ask', async (ctx) => {
    const door = await ctx.waitpoint('door')
    await ctx.step('mail', async () => tokens.push(await door.token()))
    const late = ctx.waitFor('late')
    const first = await Promise.race([late, ctx.waitFor('go')])
    return [first, await late, await ctx.waitFor(door), await ctx.waitFor('early')]
  })
  const { run, engine, worker, sentBy } = await watched(ask)
  await run.signal('go', 'gone')
  // The waitpoint of `late` is kept, and found by its key.
  const again = await sentBy(() => worker.tick())
  expect(again).toContain('suspension.read-locked')
  const { waitpoints } = await engine.waitpoints.list(run.id)
  const { waitpointId } = waitpoints.find(({ key }) => key === 'door')!
  const { bytes } = jsonCodec.encode('inside')
  await engine.signals.deliver({ waitpointId, token: tokens[0]!, name: 'answer', payload: bytes })
  await run.signal('early', 'bird')
  await run.signal('late', 'still')
  const last = await sentBy(() => worker.tick())
  expect(last.filter((name) => name === 'suspension.read-locked')).toHaveLength(2)
  expect(last.at(-1)).toBe('execution.complete.whole')
  expect(await run.result()).toEqual(['gone', 'still', 'inside', 'bird'])
})
