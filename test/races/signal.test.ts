import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import { around } from '../../src/sql/around.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { worker } from '../engine/execution/holder.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { withoutWriting } from '../support/written.ts'
import { secondEngine } from './second-engine.ts'
import { suspended } from './suspended.ts'
import * as stored from '../support/stored.ts'

const change = stored.executions.changing('retry_count = retry_count', 'execution_id = $1')
const uuidOf = (id: ExecutionId) => [parseExecutionId(id).uuid]

test('SIG-12 a signal to a locked execution waits for it and delays no other; wrong tokens wait for nothing', async () => {
  const { engine, url } = await setup()
  const [one, other] = await suspended(engine, 2)
  const barrier = await hold(url, change, uuidOf(one!.executionId))
  const waiting = engine.signals.deliver({ waitpointId: one!.waitpointId, token: one!.token, name: 'yes' })
  const free = await engine.signals.deliver({ waitpointId: other!.waitpointId, token: other!.token, name: 'yes' })
  expect(free).toMatchObject({ effect: 'resume_condition_satisfied' })
  const forged = engine.signals.deliver({ waitpointId: one!.waitpointId, token: other!.token, name: 'yes' })
  await refusal('invalid_token', forged)
  await barrier.waiters(1)
  await barrier.release()
  expect(await waiting).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('a single signal wakes a claim that waits in another process, by the hint of its own transaction', async () => {
  const { engine, sql, url } = await setup()
  const [one] = await suspended(engine, 1)
  const { executionId, waitpointId, token } = one!
  const sent: string[] = []
  const watched: Sql = {
    ...around(sql, (ask) => ask()),
    query(statement, values) {
      sent.push(statement.name)
      return sql.query(statement, values)
    },
  }
  const received: (string | null)[] = []
  const stop = await sql.listen('flowfabric flowfabric', (payload) => received.push(payload))
  const waiting = (await secondEngine(url)).executions.claim({ ...worker, wait: '1m' })
  await createEngine(watched).signals.deliver({ waitpointId, token, name: 'yes' })
  expect((await waiting).claims).toMatchObject([{ executionId, reason: 'resume' }])
  await expect.poll(() => received.filter((payload) => payload !== null)).toHaveLength(1)
  expect(sent).not.toContain('hint.notify')
  await stop()
})

test('SIG-12 a signal to an execution that stays locked is contended and writes nothing, and works when the lock is released', async () => {
  const { engine, sql, url } = await setup()
  const [one] = await suspended(engine, 1)
  const { executionId, waitpointId, token } = one!
  const barrier = await hold(url, change, uuidOf(executionId))
  await withoutWriting(sql, async () => {
    const both = [
      engine.signals.deliver({ waitpointId, token, name: 'yes' }),
      engine.signals.send({ executionId, name: 'go' }),
    ]
    for (const work of both) expect((await refusal('contended', work)).retryable).toBe(true)
  })
  await barrier.release()
  expect(await engine.signals.deliver({ waitpointId, token, name: 'yes' })).toMatchObject({ kind: 'accepted' })
})

test('the same key from two processes at once is one signal and one duplicate, fifty times', async () => {
  const { engine, url } = await setup()
  const sides = [engine, await secondEngine(url)]
  for (const { executionId, waitpointId, token } of await suspended(engine, 50)) {
    const request = { waitpointId, token, name: 'yes', idempotencyKey: 'once' }
    const answers = await Promise.all(sides.map((side) => side.signals.deliver(request)))
    expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['accepted', 'duplicate'])
    expect(new Set(answers.map((answer) => answer.signalId)).size).toBe(1)
    expect((await engine.signals.list(executionId)).signals).toHaveLength(1)
  }
})

test('two processes that start at once on a database without keys sign with the same key', async () => {
  const { url, engine } = await setup()
  const other = await secondEngine(url)
  const sides = [engine.as({ namespace: 'a' }), other.as({ namespace: 'b' })]
  const waiting = await Promise.all(sides.map((side) => suspended(side, 1)))
  const kids = waiting.flat().map(({ token }) => token.split(':')[0])
  expect(new Set(kids).size).toBe(1)
  expect(await engine.signingKeys.list()).toHaveLength(1)
})
