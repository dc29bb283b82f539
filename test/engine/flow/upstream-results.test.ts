import { expect, test } from 'vitest'
import { mintExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { complete, fail, fenceOf, hold } from './worked.ts'

test('FLOW-19 a member reads the results of its upstreams by name, and keeps its own input', async () => {
  const { engine } = await setup()
  const { members } = await engine.flows.submitGraph({
    kind: 'k',
    members: [
      { name: 'build', kind: 'build' },
      { name: 'test', kind: 'test' },
      { name: 'lint', kind: 'lint' },
      { name: 'deploy', kind: 'deploy', payload: Buffer.from('own'), payloadEncoding: 'text' },
    ],
    edges: [
      { upstream: 'build', downstream: 'deploy', dataRef: 'artifact' },
      { upstream: 'test', downstream: 'deploy' },
      { upstream: 'lint', downstream: 'deploy', kind: 'optional' },
    ],
  })
  await complete(engine, 'build', 'image-7')
  await complete(engine, 'test')
  await fail(engine, 'lint')
  const claim = await hold(engine, 'deploy')
  expect(Buffer.from(claim.payload!).toString()).toBe('own')

  const { results, nextCursor } = await engine.flows.upstreamResults(claim.executionId)
  expect(nextCursor).toBeNull()
  const byName = new Map(results.map((result) => [result.name, result]))
  expect(byName.size).toBe(3)
  const artifact = byName.get('artifact')!
  expect(Buffer.from(artifact.result!).toString()).toBe('image-7')
  expect(artifact).toMatchObject({
    upstreamId: members['build'],
    kind: 'success_only',
    state: 'satisfied',
    outcome: 'success',
    encoding: 'text',
  })
  expect(byName.get('test')).toMatchObject({ outcome: 'success', result: null, encoding: null })
  expect(byName.get('lint')).toMatchObject({ kind: 'optional', state: 'satisfied', outcome: 'failed', result: null })

  const named = await engine.flows.upstreamResults(claim.executionId, { names: ['artifact'] })
  expect(named.results.map(({ name }) => name)).toEqual(['artifact'])
})

test('an upstream that has not ended is pending, and has no result', async () => {
  const { engine } = await setup()
  const { members } = await engine.flows.submitGraph({
    kind: 'k',
    members: ['fast', 'slow', 'next'].map((name) => ({ name, kind: name })),
    edges: ['fast', 'slow'].map((upstream) => ({ upstream, downstream: 'next' })),
    groups: [{ downstream: 'next', policy: { kind: 'any_of', onSatisfied: 'let_run' } }],
  })
  await complete(engine, 'fast', 'f')
  const next = await hold(engine, 'next')
  const { results } = await engine.flows.upstreamResults(next.executionId, { names: ['slow'] })
  expect(results).toMatchObject([{ upstreamId: members['slow'], state: 'pending', outcome: null, result: null }])
})

test('the result that resolved an edge can still be read after its upstream was replayed', async () => {
  const { engine } = await setup()
  const { members } = await engine.flows.submitGraph({
    kind: 'k',
    members: ['a', 'b'].map((name) => ({ name, kind: name })),
    edges: [{ upstream: 'a', downstream: 'b' }],
  })
  await complete(engine, 'a', 'first')
  const b = await hold(engine, 'b')
  await engine.executions.replay({ executionId: members['a']! })
  const { results } = await engine.flows.upstreamResults(b.executionId)
  expect(results).toMatchObject([{ state: 'satisfied', outcome: 'success', encoding: 'text' }])
  expect(Buffer.from(results[0]!.result!).toString()).toBe('first')
  await engine.executions.complete(fenceOf(b))
  await complete(engine, 'a', 'second')
})

test('a page of results ends at its limit, or at sixteen megabytes', async () => {
  const { engine } = await setup()
  const names = Array.from({ length: 20 }, (_, index) => `up-${index}`)
  await engine.flows.submitGraph({
    kind: 'k',
    members: [...names, 'next'].map((name) => ({ name, kind: name })),
    edges: names.map((upstream) => ({ upstream, downstream: 'next' })),
  })
  const result = new Uint8Array(1024 * 1024)
  for (const name of names) {
    await engine.executions.complete({ ...fenceOf(await hold(engine, name)), result, resultEncoding: 'raw' })
  }
  const { executionId } = await hold(engine, 'next')
  const first = await engine.flows.upstreamResults(executionId)
  expect(first.results).toHaveLength(16)
  const second = await engine.flows.upstreamResults(executionId, { limit: 3, cursor: first.nextCursor! })
  expect(second.results).toHaveLength(3)
  const third = await engine.flows.upstreamResults(executionId, { cursor: second.nextCursor! })
  expect([third.results.length, third.nextCursor]).toEqual([1, null])
  const seen = [first, second, third].flatMap((page) => page.results.map(({ name }) => name))
  expect(new Set(seen)).toEqual(new Set(names))
})

test('an unknown execution has no upstreams, and one without edges has an empty list', async () => {
  const { engine } = await setup()
  await refusal('execution_not_found', engine.flows.upstreamResults(mintExecutionId()))
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect(await engine.flows.upstreamResults(executionId)).toEqual({ results: [], nextCursor: null })
  for (const names of [[], [''], ['a\0b'], [5 as never], Array<string>(1)]) {
    await refusal('invalid_input', engine.flows.upstreamResults(executionId, { names }))
  }
})
