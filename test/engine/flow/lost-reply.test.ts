// Edits of a flow whose reply was lost: they are sent again, find themselves, and return the answer of the first.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { mintExecutionId, mintFlowId } from '../../../src/model/id.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { flowRow, grown } from './grown.ts'
import * as stored from '../../support/stored.ts'

/** An engine that loses the reply of its first edit. */
function losingFirstReply(sql: Sql): Engine {
  let isLost = false
  const lose = <T>(answer: T): T => {
    if (isLost) return answer
    isLost = true
    throw Object.assign(new Error('terminating connection'), { code: '57P01', severity: 'FATAL' })
  }
  return createEngine({
    ...around(sql, (ask) => ask()),
    query: async (statement, values) => {
      const answer = await sql.query(statement, values)
      return statement.name === 'flow.create' ? lose(answer) : answer
    },
    pipeline: async (calls, options) => {
      const answers = await sql.pipeline(calls, options)
      return calls.some((call) => call.statement.name === 'flow.submit-graph') ? lose(answers) : answers
    },
    decide: async (reads, decide, options) => lose(await sql.decide(reads, decide, options)),
  })
}

test('a graph whose reply was lost exists once, and its answer names the existing members', async () => {
  const { engine, sql } = await setup()
  const members = ['a', 'b'].map((name) => ({ name, kind: 'k' }))
  const inner = { name: 'c', flow: { kind: 'g', members } }
  const edges = [{ upstream: 'a', downstream: 'b' }]
  const answer = await losingFirstReply(sql).flows.submitGraph({ kind: 'f', members: [...members, inner], edges })
  expect(answer).toMatchObject({ kind: 'submitted', graphRevision: 1 })
  expect(await stored.flows.all(sql)).toHaveLength(2)
  for (const executionId of Object.values(answer.members)) {
    expect(await engine.executions.describe(executionId)).toMatchObject({ flowId: answer.flowId })
  }
  expect(Object.keys(answer.innerFlows['c']!.members).toSorted()).toEqual(['a', 'b'])
})

test('a graph with given member ids whose reply was lost exists once too', async () => {
  const { sql } = await setup()
  const flowId = mintFlowId()
  const executionId = mintExecutionId({ flowId })
  const members = [{ name: 'a', kind: 'k', executionId }]
  const answer = await losingFirstReply(sql).flows.submitGraph({ kind: 'f', flowId, members })
  expect(answer).toMatchObject({ kind: 'duplicate', flowId, members: { a: executionId } })
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('a flow, a member, an edge and a close whose replies were lost exist once', async () => {
  const { engine, sql } = await setup()
  const created = await losingFirstReply(sql).flows.create({ kind: 'f' })
  expect(created).toMatchObject({ kind: 'created', graphRevision: 0 })
  const { flowId, ids } = await grown(engine, ['a', 'b'])
  const added = await losingFirstReply(sql).flows.addMember({ flowId, name: 'c', execution: { kind: 'k' } })
  expect(added).toMatchObject({ kind: 'added', graphRevision: 3, memberCount: 3 })
  const edge = { flowId, upstream: ids['a']!, downstream: ids['b']! }
  expect(await losingFirstReply(sql).flows.connect(edge)).toMatchObject({ kind: 'connected', graphRevision: 4 })
  expect(await losingFirstReply(sql).flows.close({ flowId })).toMatchObject({ kind: 'closed' })
  expect(await flowRow(sql, flowId)).toMatchObject({ graph_revision: 4, member_count: 3, edge_count: 1 })
  expect(await stored.executions.all(sql)).toHaveLength(3)
  expect(await stored.events.all(sql, { event_type: 'flow_closed' })).toHaveLength(1)
})
