import { expect, test } from 'vitest'
import { Supervisor } from '../../src/engine/duties/supervisor.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { take } from '../engine/execution/holder.ts'
import { walk } from '../engine/flow/walk.ts'
import { hold } from '../support/barrier.ts'
import { startChild } from '../support/child.ts'
import { setup } from '../support/setup.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

const victim = new URL('./flow.child.ts', import.meta.url)

test('a process that is killed between an ending and its dispatch loses nothing: the duty does it', async () => {
  const fixture = await setup()
  const { engine, sql, url } = fixture
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'] })
  // So that the process cannot do the owed work.
  const root = await hold(url, stored.flows.lockingRows('no key update', { flow_id: flow.uuid }))
  const child = startChild(victim, { args: [url] })
  expect(await child.next()).toEqual({ completed: 2 })
  await child.kill()
  await root.release()
  expect(await flow.states()).toEqual({ a: 'completed', b: 'completed', c: 'waiting_children' })
  expect(await checkInvariants(sql)).toEqual([])
  const supervisor = new Supervisor(sql, { intervals: { dispatch: 20 } })
  supervisor.start()
  const { claims } = await engine.executions.claim({
    workerId: 'w',
    workerInstanceId: 'survivor',
    lanes: ['default'],
    wait: '1m',
  })
  await supervisor.stop()
  expect(claims.map(({ executionId }) => executionId)).toEqual([flow.id('c')])
  expect(await flow.row()).toMatchObject({ success_count: 2 })
})

test('when a canceller is killed, the duty finishes its work', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b'] })
  await take(engine, { kinds: ['a'] })
  // No hint was sent, as if the process had ended with its answer.
  await engine.flows.cancel({ flowId: flow.flowId })
  const supervisor = new Supervisor(sql, { intervals: { dispatch: 20, 'cancel-backlog': 20 } })
  supervisor.start()
  await engine.flows.wait(flow.flowId, { timeout: patience(60_000) })
  await supervisor.stop()
  expect(await flow.states()).toEqual({ a: 'cancelled', b: 'cancelled' })
})
