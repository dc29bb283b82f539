import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const retry = { attempts: 7, backoff: { type: 'fixed', delayMs: 5 } } as const
const mail = task('mail', { lane: 'mails', version: '2', deadline: '1d', retry, attemptTimeout: '1h' }, () => {})

test("an undefined option keeps the task's value, and a policy overrides it field by field", async () => {
  const { submit, engine } = await working([mail])
  const nothing = await submit(mail, undefined, {
    lane: undefined,
    version: undefined,
    deadline: undefined,
    policy: undefined,
  } as never)
  const partial = await submit(mail, undefined, {
    policy: { attemptTimeoutMs: '5m', maxReclaimCount: undefined } as never,
  })
  const other = await submit(mail, undefined, { lane: 'others', policy: { retry: { attempts: 2 } } })
  const found = await Promise.all([nothing, partial, other].map(({ id }) => engine.executions.describe(id)))
  expect(found).toMatchObject([
    { lane: 'mails', version: '2', policy: { retry: { attempts: 7 }, attemptTimeoutMs: 3_600_000 } },
    { lane: 'mails', policy: { retry: { attempts: 7 }, attemptTimeoutMs: 300_000 } },
    { lane: 'others', policy: { retry: { attempts: 2 }, attemptTimeoutMs: 3_600_000 } },
  ])
  expect(found[0]!.deadlineAt).not.toBeNull()
})

test('undefined options and policies of a child have the same effect', async () => {
  const parent = task('parent', async (ctx) => {
    await ctx.spawn(mail, undefined, { lane: undefined, policy: { attemptTimeoutMs: '5m' } } as never)
  })
  const { submit, worker, engine } = await working([parent])
  const run = await submit(parent)
  await worker.tick()
  const { executions } = await engine.executions.list({ parentId: run.id })
  expect(await engine.executions.describe(executions[0]!.executionId)).toMatchObject({
    lane: 'mails',
    policy: { retry: { attempts: 7 }, attemptTimeoutMs: 300_000 },
  })
})
