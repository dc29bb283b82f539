// Edits of a graph beside operations on its members, from two engines on the same rows.
import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { openEngine } from '../../src/engine/engine.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { fenceOf, take, worker } from '../engine/execution/holder.ts'
import { flowRow, grown } from '../engine/flow/grown.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import { codeOf, meet } from './meeting.ts'
import * as stored from '../support/stored.ts'

interface Side {
  readonly engine: Engine
  dispatched(): Promise<void>
}

async function otherSide(url: string): Promise<Side> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return openEngine(sql)
}

const turns = [0, 1, 0, 1, 0, 1]

test('an edge that is added while its upstream completes frees its downstream, in either order', async () => {
  const { engine, sql, url, dispatched } = await setup()
  const other = await otherSide(url)
  // The upstream sometimes ends just between the read and the write of the edit.
  for (const first of Array.from({ length: 10 }, () => turns).flat()) {
    const { flowId, ids, connect } = await grown(engine, ['a', 'b'])
    const fence = fenceOf(await take(engine, { kinds: ['a'] }))
    const [connected, completed] = await meet(
      url,
      [() => codeOf(connect('a > b')), () => codeOf(other.engine.executions.complete(fence))],
      { first },
    )
    expect([connected, completed]).toEqual(['connected', 'completed'])
    await Promise.all([dispatched(), other.dispatched()])
    expect(await engine.executions.describe(ids['b']!)).toMatchObject({ publicState: 'waiting' })
    expect(await flowRow(sql, flowId)).toMatchObject({ success_count: 1 })
    await take(engine, { kinds: ['b'] })
  }
})

test('of two edges that form a cycle together one is refused', async () => {
  const { engine, url } = await setup()
  const { engine: second } = await otherSide(url)
  for (const first of turns) {
    const { flowId, ids, connect } = await grown(engine, ['a', 'b', 'c'])
    await connect('b > c')
    const back = { flowId, upstream: ids['c']!, downstream: ids['a']! }
    const answers = await meet(url, [() => codeOf(connect('a > b')), () => codeOf(second.flows.connect(back))], {
      first,
    })
    expect(answers.toSorted()).toEqual(['connected', 'cycle_detected'])
    expect(answers[first]).toBe('connected')
  }
})

test('a downstream is either claimed or blocked', async () => {
  const { engine, url } = await setup()
  const { engine: second } = await otherSide(url)
  for (const first of turns) {
    const { ids, connect } = await grown(engine, ['a', 'b'])
    const claim = async () => {
      const { claims } = await second.executions.claim({ ...worker, kinds: ['b'], lanes: ['default'] })
      return claims.length === 1 ? 'claimed' : 'nothing'
    }
    const answers = await meet(url, [() => codeOf(connect('a > b')), claim], { first })
    expect([
      ['connected', 'nothing'],
      ['execution_not_runnable', 'claimed'],
    ]).toContainEqual(answers)
    const publicState = answers[1] === 'claimed' ? 'active' : 'waiting_children'
    expect(await engine.executions.describe(ids['b']!)).toMatchObject({ publicState })
  }
})

test('an execution that is added while it completes is counted once', async () => {
  const { engine, sql, url, dispatched } = await setup()
  const other = await otherSide(url)
  for (const first of turns) {
    const { flowId } = await engine.flows.create({ kind: 'f' })
    const executionId = mintExecutionId({ flowId })
    await engine.executions.create({ executionId, kind: 'k' })
    const fence = fenceOf(await take(engine, { kinds: ['k'] }))
    const answers = await meet(
      url,
      [
        () => codeOf(engine.flows.addMember({ flowId, executionId })),
        () => codeOf(other.engine.executions.complete(fence)),
      ],
      { first },
    )
    expect(answers).toEqual(['added', 'completed'])
    await Promise.all([dispatched(), other.dispatched()])
    await engine.flows.close({ flowId })
    expect(await flowRow(sql, flowId)).toMatchObject({ success_count: 1, outcome: 'success' })
  }
})

test('the same graph, submitted twice at once, exists once', async () => {
  const { engine, sql, url } = await setup()
  const { engine: second } = await otherSide(url)
  const { flowId } = await engine.flows.create({ kind: 'warm' })
  await engine.flows.addMember({ flowId, execution: { kind: 'k' } })
  await second.executions.create({ kind: 'k' })
  const graph = {
    flowId: '{fp:7}:0190a000-0000-7000-8000-000000000007',
    kind: 'f',
    members: [
      { name: 'a', kind: 'k' },
      { name: 'b', kind: 'k' },
    ],
    edges: [{ upstream: 'a', downstream: 'b' }],
  } as const
  const answers = await meet(url, [() => engine.flows.submitGraph(graph), () => second.flows.submitGraph(graph)])
  expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['duplicate', 'submitted'])
  expect(answers[0]!.members).toEqual(answers[1]!.members)
  expect(await stored.members.all(sql, `member_name in ('a', 'b')`)).toHaveLength(2)
})

test('fifty members that are added at once all exist, each at a revision of its own', async () => {
  const { engine, sql, url } = await setup()
  const { engine: second } = await otherSide(url)
  const { flowId } = await engine.flows.create({ kind: 'f' })
  const adding = Array.from({ length: 50 }, (_, index) =>
    (index % 2 === 0 ? engine : second).flows.addMember({ flowId, name: `m${index}`, execution: { kind: 'k' } }),
  )
  const revisions = (await Promise.all(adding)).map((answer) => answer.graphRevision)
  expect(revisions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
  expect(await flowRow(sql, flowId)).toMatchObject({ member_count: 50, graph_revision: 50 })
})

test('an edit of a flow that is locked for long is contended, and takes one connection however many edits wait', async () => {
  const { engine, url } = await setup()
  const { flowId, connect } = await grown(engine, ['a', 'b'])
  const held = await hold(url, stored.flows.lockingRows('no key update'))
  const edits = [connect('a > b'), engine.flows.addMember({ flowId, execution: { kind: 'k' } })]
  const codes = Promise.all(edits.map(codeOf))
  await held.waiters(1)
  expect(await engine.executions.create({ kind: 'k' })).toMatchObject({ kind: 'created' })
  expect(await codeOf(edits[0]!)).toBe('contended')
  await held.release()
  expect(await codes).toEqual(['contended', 'added'])
})
