// Tasks as members of flows: their submit options, how they read upstream results, and how they are stopped.
import { expect, test } from 'vitest'
import type { BuildFlow } from '../../src/connect/flow-builder.ts'
import { submitFlow } from '../../src/connect/flow.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { task } from '../../src/worker/task.ts'
import { refusal } from '../support/refusal.ts'
import { length } from './schemas.ts'
import { working, type Working } from './working.ts'
import { patience } from '../support/patience.ts'

const build = task(
  'build',
  { retry: { attempts: 2 }, lane: 'slow' },
  (_, { commit }: { commit: string }) => `image ${commit}`,
)
const suite = task('suite', (_, { name }: { name: string }) => {
  if (name === 'broken') throw new Error('broke')
  return name.length
})
const deploy = task('deploy', async (ctx) => `${await ctx.upstream(build)} is live`)

const flow = <Out>({ engine }: Working, write: BuildFlow<Out>) => submitFlow(engine, jsonCodec, write, {})

async function runFlow(started: Working): Promise<void> {
  for (let left = 1; left > 0;) {
    left = await started.worker.tick()
    await started.dispatched()
    if (left === 0) left = await started.worker.tick()
  }
}

test('members are tasks, each with its policy, lane and schema, and the output of the last one is the result', async () => {
  const started = await working([build, suite, deploy], { lanes: ['default', 'slow'] })
  const run = await flow(started, (f) => {
    const image = f.add(build, { commit: 'c1' })
    return f.after([image, f.add(suite, { name: 'unit' })], f.add(deploy))
  })
  expect(await started.engine.executions.describe(run.members['build']!)).toMatchObject({
    lane: 'slow',
    policy: { retry: { attempts: 2 } },
  })
  await runFlow(started)
  expect(await run.result({ timeout: patience(60_000) })).toBe('image c1 is live')
})

test('an input that the schema of its task rejects is rejected with the whole flow', async () => {
  const measured = task('measured', { input: length }, (_, size) => size)
  const started = await working([measured])
  const error = await refusal(
    'invalid_input',
    flow(started, (f) => void f.flow('inner', (g) => void g.add(measured, 4 as never))),
  )
  expect(error.message).toContain('the input of measured is refused by its schema')
  expect((await started.engine.flows.list({})).flows).toEqual([])
})

test("a builder's return value identifies its member, also in a nested flow; a member of another flow is refused", async () => {
  const started = await working([suite])
  let inner = null as never
  const run = await flow(started, (f) => {
    f.flow('checks', (g) => void (inner = g.add(suite, { name: 'four' }) as never))
  })
  await runFlow(started)
  expect(await run.member(inner).result({ timeout: patience(60_000) })).toBe(4)
  const other = await flow(started, (f) => void f.add(suite, { name: 'unit' }))
  expect(() => other.member(inner)).toThrow('"suite" of another flow')
  await refusal('invalid_input', other.result())
})

test('a member reads by name how its upstream members ended, and their results', async () => {
  const seen: unknown[] = []
  const report = task('report', async (ctx) => {
    const upstreams = await ctx.upstreams()
    seen.push(...upstreams.map(({ name, kind, outcome, value }) => [name, kind, outcome, value]))
    seen.push(await ctx.upstream<number>('good'), await ctx.upstream('bad').catch((error: Error) => error.message))
    seen.push(await ctx.upstream('nobody').catch((error: Error) => error.message))
  })
  const started = await working([suite, report])
  const run = await flow(started, (f) => {
    const bad = f.add(suite, { name: 'broken' }, { name: 'bad', policy: { retry: { attempts: 1 } } })
    const good = f.add(suite, { name: 'unit' })
    return f.after(
      [
        { on: bad, kind: 'optional' },
        { on: good, name: 'good' },
      ],
      f.add(report),
    )
  })
  await runFlow(started)
  expect(await run.result({ timeout: patience(60_000) })).toBeUndefined()
  expect(seen.slice(0, 2)).toEqual(
    expect.arrayContaining([
      ['bad', 'optional', 'failed', undefined],
      ['good', 'success_only', 'success', 4],
    ]),
  )
  expect(seen[2]).toBe(4)
  expect(seen[3]).toContain('is failed, so it has no result')
  expect(seen[4]).toContain('has no upstream named "nobody"')
})

test('a running sibling that is no longer needed is aborted through its signal', async () => {
  let received: unknown = null
  const fast = task('fast', () => 'first')
  const slow = task('slow', async (ctx) => {
    await new Promise<void>((resolve) => ctx.abort.addEventListener('abort', () => resolve(), { once: true }))
    received = ctx.abort.reason
  })
  const choose = task('choose', (ctx) => ctx.upstream(fast))
  const started = await working([fast, slow, choose], { concurrency: 3 })
  const run = await flow(started, (f) =>
    f.after([f.add(slow), f.add(fast)], f.add(choose), { kind: 'any_of', onSatisfied: 'cancel_remaining' }),
  )
  await started.worker.start()
  expect(await run.result({ timeout: patience(60_000) })).toBe('first')
  expect(await run.wait({ timeout: patience(60_000) })).toMatchObject({
    state: 'completed',
    members: { completed: 2, cancelled: 1 },
  })
  await expect.poll(() => received).not.toBeNull()
  expect((received as Error).message).toContain('is cancelled; stop working on it')
  const why = { publicState: 'cancelled', reason: 'sibling_quorum_satisfied' }
  expect((await run.graph()).members).toContainEqual(expect.objectContaining({ name: 'slow', ...why }))
})
