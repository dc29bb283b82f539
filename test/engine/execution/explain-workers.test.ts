// The missing worker, and the facts beside the sentence.
import { expect, test } from 'vitest'
import { atNoon, later, noon, now, sentenceOf, soon } from './explained.ts'

test('explain says step by step what the registered workers lack', async () => {
  const { engine } = await atNoon()
  const request = { kind: 'render', lane: 'slow', version: '2', requiredCapabilities: ['gpu', 'ssd'] }
  const { executionId } = await engine.executions.create(request)
  const waits = `Has been waiting for a worker since ${noon}: `
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['slow'] }
  await engine.workers.register({ ...worker, namespace: 'elsewhere', workerInstanceId: 'other' })
  await engine.workers.register({ ...worker, workerInstanceId: 'fast', lanes: ['fast'] })
  expect(await sentenceOf(engine, executionId)).toBe(`${waits}no registered worker serves lane 'slow'.`)
  await engine.workers.register({ ...worker, kinds: ['print'] })
  expect(await sentenceOf(engine, executionId)).toBe(
    `${waits}1 registered worker serves lane 'slow', but none serves kind 'render'.`,
  )
  await engine.workers.register({ ...worker, versions: ['1'] })
  expect(await sentenceOf(engine, executionId)).toBe(
    `${waits}1 registered worker serves lane 'slow', but none serves version '2' of 'render'.`,
  )
  await engine.workers.register({ ...worker, versions: ['2'], capabilities: ['gpu'] })
  await engine.workers.register({ ...worker, workerInstanceId: 'w-2', namespace: 'default' })
  expect(await sentenceOf(engine, executionId)).toBe(
    `${waits}2 registered workers serve lane 'slow', but none has gpu, ssd.`,
  )
  await engine.workers.register({ ...worker, versions: ['2'], capabilities: ['gpu', 'ssd', 'fpu'] })
  expect(await sentenceOf(engine, executionId)).toBe(
    `${waits}1 registered worker can run it, and it is next in its queue.`,
  )
  const explanation = await engine.executions.explain(executionId)
  expect(explanation!.facts.workers).toEqual({ alive: 3, lane: 2, kind: 2, version: 1, able: 1 })
})

test('explain says how many executions are ahead in the queue, and for which worker it is reserved', async () => {
  const { engine } = await atNoon()
  await engine.workers.register({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  for (const priority of [5, 5, 0]) await engine.executions.create({ kind: 'k', priority })
  const { executionId } = await engine.executions.create({ kind: 'k', priority: 1 })
  await engine.executions.grant({ executionId, workerId: 'w', workerInstanceId: 'w-1', ttl: '1m' })
  expect(await sentenceOf(engine, executionId)).toBe(
    `Has been waiting for a worker since ${noon}: 1 registered worker can run it, and 2 executions are ahead of it. It is reserved for w-1 until ${later}.`,
  )
})

test('explain returns more than the sentence: since when, until when, who could change it, and the facts', async () => {
  const { engine, given } = await atNoon()
  const delayed = await given.delayed({ until: soon })
  expect(await engine.executions.explain(delayed)).toMatchObject({
    executionId: delayed,
    publicState: 'delayed',
    reason: 'waiting_for_delay',
    since: now,
    until: soon,
    ways: [`time, at ${later}`, 'an authorized caller, with executions.cancel'],
    facts: { now, execution: { executionId: delayed, lane: 'default' }, workers: { alive: 0 } },
  })
  const suspended = await given.suspended({ since: now, timeoutAt: soon })
  expect((await engine.executions.explain(suspended))!.ways).toEqual([
    "its condition: a signal at waitpoint 'answer'",
    `time, at ${later}`,
    'an operator, with executions.resume',
    'an authorized caller, with executions.cancel',
  ])
  const waiting = await given.waiting({ lane: 'mail' })
  expect((await engine.executions.explain(waiting))!.ways[0]).toBe("a new worker that serves lane 'mail'")
  expect((await engine.executions.explain(await given.completed()))!.ways).toEqual([
    'an operator, with executions.replay',
  ])
  expect((await engine.executions.explain(await given.active()))!.ways).toEqual([
    'worker worker-1, which runs it',
    'an operator, with leases.revoke',
    'an authorized caller, with executions.cancel',
  ])
})
