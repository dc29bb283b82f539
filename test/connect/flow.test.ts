import { expect, onTestFinished, test } from 'vitest'
import { FlowBuilder, type BuildFlow, type MemberRef } from '../../src/connect/flow-builder.ts'
import { submitFlow, type FlowOptions } from '../../src/connect/flow.ts'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { mintFlowId } from '../../src/model/id.ts'
import { task } from '../../src/worker/task.ts'
import { complete, fenceOf, hold } from '../engine/flow/worked.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { text } from '../worker/schemas.ts'

/** The object that `connect` returns, on the database of the test. */
async function open() {
  const { engine } = await setup()
  return {
    engine,
    flow: (build: BuildFlow, options: FlowOptions = {}) => submitFlow(engine, jsonCodec, build, options),
  }
}

test('a function defines a flow, which is submitted whole, and awaited', async () => {
  const ff = await open()
  const run = await ff.flow(
    (f) => {
      const [build, test] = [f.add('build', { commit: 'c1' }), f.add('test')]
      f.after([build, test], f.add('deploy', undefined, { lane: 'default', priority: 7 }))
    },
    { kind: 'release', tags: { team: 'core' } },
  )
  expect(run.kind).toBe('submitted')
  expect(Object.keys(run.members).toSorted()).toEqual(['build', 'deploy', 'test'])
  expect(await run.describe()).toMatchObject({ kind: 'release', state: 'open', tags: { team: 'core' }, edgeCount: 2 })
  const build = await hold(ff.engine, 'build')
  expect(Buffer.from(build.payload!).toString()).toBe('{"commit":"c1"}')
  expect(build.payloadEncoding).toBe('json')
  expect(await run.state()).toBe('running')
  await ff.engine.executions.complete(fenceOf(build))
  await complete(ff.engine, 'test')
  const deploy = await hold(ff.engine, 'deploy')
  expect([deploy.payload, deploy.priority]).toEqual([null, 7])
  const { members, groups } = await run.graph()
  expect([members.length, groups[0]!.state]).toEqual([3, 'satisfied'])
  await ff.engine.executions.complete(fenceOf(deploy))
  expect(await run.wait()).toMatchObject({ state: 'completed' })
})

test('members of one kind get names of their own, and edges their kinds, names and policies', async () => {
  const ff = await open()
  const run = await ff.flow((f) => {
    const probes = [f.add('probe', 1), f.add('probe', 2), f.add('probe', 3, { name: 'third' })]
    const answer = f.after(probes, f.add('answer'), { kind: 'quorum', k: 2, onSatisfied: 'let_run' })
    f.after({ on: answer, kind: 'on_failure', name: 'cause' }, f.add('alert'))
  })
  expect(Object.keys(run.members).toSorted()).toEqual(['alert', 'answer', 'probe', 'probe-2', 'third'])
  const { edges, groups } = await run.graph()
  const toAlert = edges.find((edge) => edge.downstreamId === run.members['alert'])
  expect(toAlert).toMatchObject({ upstreamId: run.members['answer'], kind: 'on_failure', dataRef: 'cause' })
  const ofAnswer = groups.find((group) => group.downstreamId === run.members['answer'])
  expect(ofAnswer!.policy).toEqual({ kind: 'quorum', k: 2, onSatisfied: 'let_run' })
})

test('members of one kind are numbered in their order, skipping names that are used', async () => {
  const names: string[] = []
  await FlowBuilder.build((f) => {
    f.add('page', 0, { name: 'page-3' })
    for (let index = 0; index < 20_000; index++) names.push(f.add('page').name)
  }, jsonCodec)
  expect([names.slice(0, 4), names.at(-1)]).toEqual([['page', 'page-2', 'page-4', 'page-5'], 'page-20001'])
})

test('a member may be a flow itself', async () => {
  const ff = await open()
  const run = await ff.flow((f) => {
    const checks = f.flow('checks', (g) => void g.after(g.add('lint'), g.add('unit')), { kind: 'checks' })
    f.after(checks, f.add('deploy'))
  })
  await complete(ff.engine, 'lint')
  await complete(ff.engine, 'unit')
  await complete(ff.engine, 'deploy')
  expect(await run.wait()).toMatchObject({ state: 'completed', members: { completed: 2 } })
})

test('a flow is cancelled through its handle', async () => {
  const ff = await open()
  const run = await ff.flow((f) => void f.add('a'))
  await run.cancel({ reason: 'enough' })
  expect(await run.wait()).toMatchObject({ state: 'cancelled', cancellation: { reason: 'enough' } })
})

test('the same flow id with the same graph returns the existing flow', async () => {
  const ff = await open()
  const flowId = mintFlowId()
  const build = (f: FlowBuilder): void => void f.after(f.add('a'), f.add('b'))
  const first = await ff.flow(build, { flowId })
  const second = await ff.flow(build, { flowId })
  expect([first.kind, second.kind]).toEqual(['submitted', 'duplicate'])
  expect(second.members).toEqual(first.members)
  await refusal(
    'flow_id_taken',
    ff.flow((f) => void f.add('c'), { flowId }),
  )
})

test('inputs are encoded with the given codec', async () => {
  const ff = await open()
  const codec: Codec = {
    encode: (value) => ({ bytes: Buffer.from(`<${String(value)}>`), encoding: 'angle' }),
    decode: () => null,
  }
  await ff.flow((f) => void f.flow('inner', (g) => void g.add('a', 'x')), { codec })
  const { payload, payloadEncoding } = await hold(ff.engine, 'a')
  expect([Buffer.from(payload!).toString(), payloadEncoding]).toEqual(['<x>', 'angle'])
})

test('an invalid graph is refused before anything is sent', async () => {
  const ff = await open()
  let kept: FlowBuilder | undefined
  let stranger: MemberRef | undefined
  await ff.flow((f) => {
    kept = f
    stranger = f.add('a')
  })
  expect(() => kept!.add('late')).toThrow('the flow has been submitted')
  const foreign = await refusal(
    'invalid_dependency',
    ff.flow((f) => void f.after(stranger!, f.add('b'))),
  )
  expect(foreign.message).toContain('"a" of another flow')
  await refusal(
    'invalid_dependency',
    ff.flow((f) => void f.after('a' as never, f.add('b'))),
  )
  await refusal(
    'invalid_input',
    ff.flow((f) => void f.after({ on: f.add('a'), type: 'optional' } as never, f.add('b'))),
  )
  const awaiting = (async () => {}) as never as BuildFlow
  await refusal('invalid_input', ff.flow(awaiting))
  await refusal(
    'invalid_input',
    ff.flow(() => {}),
  )
  await refusal(
    'invalid_input',
    ff.flow((f) => void f.add('a'), { lane: 'x' } as never),
  )
  await refusal(
    'invalid_input',
    ff.flow((f) => void f.add('a', 1, { retries: 3 } as never)),
  )
  const cycle = await refusal(
    'cycle_detected',
    ff.flow((f) => {
      const [a, b] = [f.add('a'), f.add('b')]
      f.after(a, b)
      f.after(b, a)
    }),
  )
  expect(cycle.message).toMatch(/a -> b -> a|b -> a -> b/)
  expect((await ff.engine.flows.list()).flows).toHaveLength(1)
})

test('the edges of one member are one group: a second policy is refused where the code sets it, and so is a bad one', async () => {
  const ff = await open()
  const twice = await refusal(
    'invalid_input',
    ff.flow((f) => {
      const [a, b, c] = [f.add('a'), f.add('b'), f.add('c')]
      f.after(a, c, { kind: 'any_of' })
      f.after(b, c, { kind: 'any_of' })
    }),
  )
  expect(twice.message).toBe(
    '"c" has a policy from an f.after before; all that it waits for is one group, so give the policy once',
  )
  const bad: readonly [(f: FlowBuilder) => void, string][] = [
    [(f) => void f.after(f.add('a'), f.add('b'), { kind: 'quorum' } as never), 'policy.k is missing'],
    [(f) => void f.after({ on: f.add('a'), kind: 'failure' as never }, f.add('b')), 'kind is "failure"'],
    [
      (f) => void f.add(undefined as never, undefined as never),
      'what f.add takes is undefined; it must be a task, or the name of a kind',
    ],
    [(f) => void f.add('a', 1, { nam: 'x' } as never), 'f.add has an unknown field "nam"; did you mean name?'],
    [(f) => void f.add('a', 1, { namespace: 'x' } as never), 'f.add has an unknown field "namespace"'],
    [(f) => void f.flow('inner', undefined as never), 'what writes a flow down is undefined; it must be a function'],
    [undefined as never, 'what writes a flow down is undefined; it must be a function'],
  ]
  for (const [build, message] of bad)
    expect((await refusal('invalid_input', ff.flow(build))).message).toContain(message)
  expect((await ff.engine.flows.list()).flows).toEqual([])
})

test('a builder that throws after it was given a bad input leaves no rejection that would end the process', async () => {
  const ff = await open()
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const strict = task('strict', { input: text }, () => {})
  const broken = ff.flow((f) => {
    f.add(strict, 4 as never)
    f.flow('inner', (g) => void g.add(strict, 5 as never))
    throw new Error('changed my mind')
  })
  await expect(broken).rejects.toThrow('changed my mind')
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(unheard).toEqual([])
})
