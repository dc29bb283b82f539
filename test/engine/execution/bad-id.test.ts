// Invalid ids in every operation that takes one: they are refused before any query, and nothing is written.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { ExecutionId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

const fence = { leaseId: randomUUID(), leaseEpoch: 1 }
const instance = { workerId: 'w', workerInstanceId: 'w-1' }

// Ids of executions and of waitpoints have one form.
const operations: Readonly<Record<string, (engine: Engine, id: never) => Promise<unknown>>> = {
  complete: ({ executions }, executionId) => executions.complete({ executionId, ...fence }),
  fail: ({ executions }, executionId) => executions.fail({ executionId, ...fence, reason: 'broke' }),
  delay: ({ executions }, executionId) => executions.delay({ executionId, ...fence, for: 1 }),
  release: ({ executions }, executionId) => executions.release({ executionId, ...fence }),
  progress: ({ executions }, executionId) => executions.progress({ executionId, ...fence, percent: 1 }),
  grant: ({ executions }, executionId) => executions.grant({ executionId, ...instance }),
  claimById: ({ executions }, executionId) => executions.claimById({ executionId, ...instance, grantId: randomUUID() }),
  cancel: ({ executions }, executionId) => executions.cancel({ executionId }),
  replay: ({ executions }, executionId) => executions.replay({ executionId }),
  changePriority: ({ executions }, executionId) => executions.changePriority({ executionId, priority: 1 }),
  revoke: ({ leases }, executionId) => leases.revoke({ executionId }),
  setTag: ({ executions }, executionId) => executions.setTag(executionId, 'a', 'b'),
  getTag: ({ executions }, executionId) => executions.getTag(executionId, 'a'),
  describe: ({ executions }, executionId) => executions.describe(executionId),
  result: ({ executions }, executionId) => executions.result(executionId),
  input: ({ executions }, executionId) => executions.input(executionId),
  getNamespace: ({ executions }, executionId) => executions.getNamespace(executionId),
  resolveFlowId: ({ executions }, executionId) => executions.resolveFlowId(executionId),
  'attempts.list': ({ attempts }, executionId) => attempts.list(executionId),
  'events.timeline': ({ events }, executionId) => events.timeline(executionId),
  resume: ({ executions }, executionId) => executions.resume({ executionId }),
  suspend: ({ executions }, executionId) =>
    executions.suspend({ executionId, ...fence, condition: { kind: 'operator' } }),
  'waitpoints.create': ({ waitpoints }, executionId) => waitpoints.create({ executionId, ...fence, key: 'k' }),
  'waitpoints.list': ({ waitpoints }, executionId) => waitpoints.list(executionId),
  'suspensions.describe': ({ suspensions }, executionId) => suspensions.describe(executionId),
  'signals.send': ({ signals }, executionId) => signals.send({ executionId, name: 'n' }),
  'signals.list': ({ signals }, executionId) => signals.list(executionId),
  'waitpoints.link': ({ waitpoints }, waitpointId) =>
    waitpoints.link({ waitpointId, base: 'https://example.com', action: 'yes', expiresIn: '1h' }),
  'waitpoints.readToken': ({ waitpoints }, waitpointId) => waitpoints.readToken(waitpointId),
  'signals.approve': ({ signals }, waitpointId) => signals.approve({ waitpointId, name: 'n', idempotencySuffix: '1' }),
  'signals.deliver': ({ signals }, waitpointId) => signals.deliver({ waitpointId, token: 'k:0', name: 'n' }),
}

const malformed: readonly unknown[] = [
  'seven',
  '',
  randomUUID().slice(1),
  `{fp:-1}:${randomUUID()}`,
  `{fp:7}:${randomUUID()} `,
  '{fp:7}:',
  null,
  undefined,
  7,
  {},
]

test.each(Object.entries(operations))('%s of an invalid id is refused, and nothing is written', async (_, act) => {
  const { engine, sql } = await setup()
  await factory(sql).active()
  await withoutWriting(sql, async () => {
    for (const id of malformed) {
      const error = await refusal('invalid_id', act(engine, id as never))
      expect(error.retryable).toBe(false)
    }
    await refusal('invalid_partition', act(engine, `{fp:256}:${randomUUID()}` as never))
  })
})

test.each([99, 86_400_001, '25h', 0, -1, null, '1h30m'])('a claim by id for %s is refused', async (leaseTtl) => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  const { grantId } = await engine.executions.grant({ executionId, ...instance })
  const request = { executionId, grantId, ...instance, leaseTtl: leaseTtl as number }
  const error = await withoutWriting(sql, () => refusal('invalid_input', engine.executions.claimById(request)))
  expect(error.details['field']).toBe('leaseTtl')
})

test('in a set of replays each bad one is refused at its position, and its neighbours are replayed', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ended = [await given.completed(), await given.failed()]
  const ids = [ended[0], 'seven', await given.waiting(), '{fp:7}:01900000-0000-7000-8000-000000000000', ended[1]]
  const answers = await engine.executions.replayMany(ids.map((id) => ({ executionId: id as ExecutionId })))
  expect(answers.map((answer) => (answer.kind === 'refused' ? answer.error.code : answer.kind))).toEqual([
    'replayed',
    'invalid_id',
    'execution_not_terminal',
    'execution_not_found',
    'replayed',
  ])
})
