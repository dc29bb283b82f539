import { expect, test } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { badGateway, front, lostAnswer } from './front.ts'
import * as stored from '../support/stored.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

test('a create whose answer was lost is sent again with the same request id, and returns the first answer', async () => {
  const { engine, sql, next, asked } = await front()
  next.push(lostAnswer)
  expect(await engine.executions.create({ kind: 'a' })).toMatchObject({ kind: 'created' })
  expect(await stored.executions.all(sql)).toHaveLength(1)
  expect(asked).toHaveLength(2)
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(1)
})

test('a create that goes to another server the second time finds its own id there, and is no duplicate', async () => {
  const { engine, sql, next, anotherApp } = await front()
  const other = anotherApp()
  next.push(lostAnswer, (_, pass) => pass(other))
  expect(await engine.executions.create({ kind: 'a' })).toMatchObject({ kind: 'created' })
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('a create of an id that the caller chose is a duplicate when another client created it before', async () => {
  const { engine } = await front()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  expect(await engine.executions.create({ executionId, kind: 'a' })).toMatchObject({ kind: 'duplicate', executionId })
})

test('flows and their members are found again too, by ids that were minted before the first send', async () => {
  const { engine, next, anotherApp } = await front()
  const other = anotherApp()
  next.push(lostAnswer, (_, pass) => pass(other))
  const { kind, flowId } = await engine.flows.create({ kind: 'f' })
  expect(kind).toBe('created')
  next.push(lostAnswer, (_, pass) => pass(other))
  expect(await engine.flows.addMember({ flowId, execution: { kind: 'a' } })).toMatchObject({ kind: 'added' })
  expect((await engine.flows.graph(flowId))?.members).toHaveLength(1)
  next.push(lostAnswer, (_, pass) => pass(other))
  const graph = { kind: 'g', members: [{ name: 'one', kind: 'a' }] }
  expect(await engine.flows.submitGraph(graph)).toMatchObject({ kind: 'submitted' })
})

test('the requests of a holder are sent again, and return the first answer', async () => {
  const { engine, next, sql } = await front()
  await engine.executions.create({ kind: 'a' })
  const { claims } = await engine.executions.claim(worker)
  const { executionId, leaseId, leaseEpoch } = claims[0]!
  next.push(lostAnswer, badGateway)
  const answer = await engine.executions.complete({ executionId, leaseId, leaseEpoch })
  expect(answer).toMatchObject({ kind: 'completed', executionId })
  expect(await stored.endings.all(sql)).toHaveLength(1)
})

test('a claim whose answer was lost is not sent again; a renewal reports its leases', async () => {
  const { engine, next, asked } = await front()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  asked.length = 0
  next.push(lostAnswer)
  const error = await refusal('server_unreachable', engine.executions.claim(worker))
  expect(error.retryable).toBe(true)
  expect(error.message).toContain('may have been done')
  expect(asked).toHaveLength(1)
  const { unnamed } = await engine.executions.renew({ workerInstanceId: 'w-1', leases: [] })
  expect(unnamed).toMatchObject([{ executionId }])
})

test('a signal is sent again only when it has a key, and counts once', async () => {
  const { engine, next } = await front()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  next.push(lostAnswer)
  await refusal('server_unreachable', engine.signals.send({ executionId, name: 'n' }))
  next.push(lostAnswer)
  await engine.signals.send({ executionId, name: 'n', idempotencyKey: 'k' })
  expect((await engine.signals.list(executionId)).signals).toHaveLength(2)
})

test('when the answer to a set is lost, every item gets its error at its position', async () => {
  const { engine, next } = await front({ patienceMs: 0 })
  const { executionId } = await engine.executions.create({ kind: 'a' })
  next.push(lostAnswer)
  const answers = await engine.signals.sendMany([
    { executionId, name: 'n' },
    { executionId, name: 'm' },
  ])
  expect(answers).toMatchObject([
    { kind: 'refused', error: { code: 'server_unreachable' } },
    { kind: 'refused', error: { code: 'server_unreachable' } },
  ])
})

test('a request that certainly had no effect is always sent again: the server is about to stop, or requests a pause', async () => {
  const { engine, next, asked } = await front()
  const problem = (status: number, code: string) => async () =>
    Response.json(
      { code, detail: 'later', details: {}, status },
      { status, headers: { 'content-type': 'application/problem+json', 'retry-after': '0' } },
    )
  next.push(problem(503, 'server_stopping'), problem(429, 'rate_limited'))
  expect(await engine.executions.claim(worker)).toEqual({ claims: [], more: false })
  expect(asked).toHaveLength(3)
})

test('a call whose requested pause exceeds its patience fails at once, and the error says why', async () => {
  const { engine, next } = await front({ patienceMs: 2000 })
  next.push(async () =>
    Response.json(
      { code: 'rate_limited', detail: 'come back later', details: { retryAfterMs: 60_000 }, status: 429 },
      { status: 429, headers: { 'content-type': 'application/problem+json', 'retry-after': '60' } },
    ),
  )
  const error = await refusal('rate_limited', engine.serverTime())
  expect(error.details).toEqual({ retryAfterMs: 60_000 })
})

test('a revoke, a resume and a replay are sent again, to any server, and return the first answer', async () => {
  const { engine, next, anotherApp, sql } = await front()
  const other = anotherApp()
  const loseFirst = (): void => void next.push(lostAnswer, (_, pass) => pass(other))
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const { claims } = await engine.executions.claim(worker)
  loseFirst()
  const revoked = await engine.leases.revoke({ executionId })
  expect(revoked).toMatchObject({ kind: 'revoked', leaseId: claims[0]!.leaseId, leaseEpoch: 1 })
  const again = (await engine.executions.claim(worker)).claims[0]!
  const fence = { executionId, leaseId: again.leaseId, leaseEpoch: again.leaseEpoch }
  await engine.executions.suspend({ ...fence, condition: { kind: 'operator' } })
  loseFirst()
  expect(await engine.executions.resume({ executionId })).toMatchObject({ kind: 'resumed', delayUntil: null })
  await engine.executions.cancel({ executionId })
  loseFirst()
  expect(await engine.executions.replay({ executionId })).toMatchObject({ kind: 'replayed', generation: 1 })
  expect(await stored.events.pick(sql, ['event_type'], `event_type in ('revoked', 'resumed', 'replayed')`)).toEqual(
    ['revoked', 'resumed', 'replayed'].map((event_type) => ({ event_type })),
  )
})
