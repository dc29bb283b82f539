// Lost replies between a client and two servers that share only the database: a request is sent again to the other server,
// which does not know the first one, and returns the first answer.
import { onTestFinished, expect, test } from 'vitest'
import type { CreateRequest } from '../../src/engine/execution/create-request.ts'
import { createApp, type App } from '../../src/server/app.ts'
import { secondEngine } from '../races/second-engine.ts'
import { front, lostAnswer, type Front } from './front.ts'
import * as stored from '../support/stored.ts'

interface Pair extends Front {
  /** Loses the reply to the next request; the one after goes to the other server. */
  readonly loseNext: () => void
}

async function pair(namespace?: string): Promise<Pair> {
  const made = await front()
  const engine = await secondEngine(made.database)
  const other: App = createApp(engine, { authenticate: null })
  onTestFinished(() => other.stop())
  const loseNext = (): void => void made.next.push(lostAnswer, (_, pass) => pass(other))
  return { ...made, loseNext, ...(namespace !== undefined && { engine: made.engine.as({ namespace }) }) }
}

test.each([
  ['alone', {}],
  ['with a key', { idempotencyKey: 'k' }],
  ['in a namespace', { namespace: 'a', idempotencyKey: 'k' }],
  ['with a priority that is too high', { priority: 10_000, idempotencyKey: 'k' }],
] satisfies [string, Partial<CreateRequest>][])('a create %s is created, once', async (_, traits) => {
  const served = await pair()
  const { engine, loseNext, asked } = served
  loseNext()
  const first = await engine.executions.create({ kind: 'a', ...traits })
  expect(first.kind).toBe('created')
  expect(asked).toHaveLength(2)
  expect(await stored.executions.count(served.sql)).toBe(1)
  if ('priority' in traits) expect(first).toMatchObject({ adjusted: { priority: { given: 10_000, used: 9000 } } })
  if (!('idempotencyKey' in traits)) return
  loseNext()
  const { executionId } = first
  expect(await engine.executions.create({ kind: 'a', ...traits })).toMatchObject({ kind: 'duplicate', executionId })
})

test('a create with a key is created, whatever namespace its caller is bound to', async () => {
  const served = await pair('theirs')
  served.loseNext()
  const { kind, executionId } = await served.engine.executions.create({ kind: 'a', idempotencyKey: 'k' })
  expect(kind).toBe('created')
  expect(await served.engine.executions.getNamespace(executionId)).toBe('theirs')
})

test('a child with a key is created, once', async () => {
  const served = await pair()
  const { executionId: parentId } = await served.engine.executions.create({ kind: 'a' })
  served.loseNext()
  const child = { kind: 'b', parentId, idempotencyKey: 'k' }
  const { kind, executionId } = await served.engine.executions.create(child)
  expect(kind).toBe('created')
  expect(await served.engine.executions.create(child)).toMatchObject({ kind: 'duplicate', executionId })
})

test('each item of a set is answered as it would have been the first time: created, duplicate or refused', async () => {
  const served = await pair()
  const { engine, loseNext } = served
  const { executionId } = await engine.executions.create({ kind: 'a', idempotencyKey: 'old' })
  loseNext()
  const answers = await engine.executions.createMany([
    { kind: 'a' },
    { kind: 'a', idempotencyKey: 'old' },
    { kind: 'a', idempotencyKey: 'new' },
    { kind: 'b', idempotencyKey: 'old' },
    { kind: 'a', executionId },
  ])
  expect(answers.map(({ kind }) => kind)).toEqual(['created', 'duplicate', 'created', 'refused', 'duplicate'])
  expect(await stored.executions.count(served.sql)).toBe(3)
})

test('a graph is submitted once, with the members of the first send', async () => {
  const served = await pair()
  const graph = {
    kind: 'g',
    members: [
      { name: 'one', kind: 'a' },
      { name: 'two', kind: 'a', idempotencyKey: 'k' },
      { name: 'three', flow: { kind: 'inner', members: [{ name: 'four', kind: 'a' }] } },
    ],
    edges: [{ upstream: 'one', downstream: 'two' }],
  }
  served.loseNext()
  const { kind, flowId, members } = await served.engine.flows.submitGraph(graph)
  expect(kind).toBe('submitted')
  expect(await stored.executions.count(served.sql)).toBe(4)
  const shown = (await served.engine.flows.graph(flowId))!.members
  expect(Object.fromEntries(shown.map(({ name, executionId }) => [name, executionId]))).toEqual(members)
  served.loseNext()
  expect(await served.engine.flows.submitGraph({ ...graph, flowId })).toMatchObject({ kind: 'duplicate', members })
})

test('a flow, its members and its edges are created once', async () => {
  const served = await pair()
  const { engine, loseNext } = served
  loseNext()
  const { kind, flowId } = await engine.flows.create({ kind: 'f' })
  expect(kind).toBe('created')
  loseNext()
  const first = await engine.flows.addMember({ flowId, name: 'a', execution: { kind: 'a', idempotencyKey: 'k' } })
  expect(first).toMatchObject({ kind: 'added', memberCount: 1 })
  const second = await engine.flows.addMember({ flowId, name: 'b', execution: { kind: 'a' } })
  // An edge has no id of its own before it exists: the same server knows that it created it, another that it exists.
  const edge = { flowId, upstream: first.executionId, downstream: second.executionId }
  served.next.push(lostAnswer)
  expect(await engine.flows.connect(edge)).toMatchObject({ kind: 'connected' })
  loseNext()
  expect(await engine.flows.connect(edge)).toMatchObject({ kind: 'already_connected' })
  expect(await stored.edges.count(served.sql)).toBe(1)
})

test('a repeated put of a schedule returns it unchanged; on the same server it returns created', async () => {
  const served = await pair()
  const schedule = { scheduleId: 's', kind: 'a', every: '1h' } as const
  served.next.push(lostAnswer)
  expect(await served.engine.schedules.put(schedule)).toMatchObject({ kind: 'created' })
  served.loseNext()
  expect(await served.engine.schedules.put({ ...schedule, every: '2h' })).toMatchObject({ kind: 'unchanged' })
  expect(await served.engine.schedules.describe({ scheduleId: 's' })).toMatchObject({ everyMs: 7_200_000 })
})

test('a trigger whose answer was lost is not sent again: it may have fired', async () => {
  const served = await pair()
  await served.engine.schedules.put({ scheduleId: 's', kind: 'a', every: '1h' })
  served.next.push(lostAnswer)
  await expect(served.engine.schedules.trigger({ scheduleId: 's' })).rejects.toMatchObject({
    code: 'server_unreachable',
  })
  expect(await stored.executions.count(served.sql)).toBe(1)
})

test('many creates through replies that are lost at random each exist once, and each returned created', async () => {
  const served = await pair()
  const { engine, next } = served
  let seed = 7
  const chance = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let i = 0; i < 200; i++) next.push(chance() < 0.3 ? lostAnswer : (_, pass) => pass())
  const kinds: string[] = []
  const submit = async (worker: number): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      const { kind } = await engine.executions.create({
        kind: 'a',
        ...(i % 2 === 0 && { idempotencyKey: `${worker}-${i}` }),
      })
      kinds.push(kind)
    }
  }
  await Promise.all([1, 2, 3, 4].map(submit))
  expect(new Set(kinds)).toEqual(new Set(['created']))
  expect(await stored.executions.count(served.sql)).toBe(40)
})
