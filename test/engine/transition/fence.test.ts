// A write that needs a fence and has none, or has one that no claim returned: the same for each of them.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Fence } from '../../../src/engine/transition/fence.ts'
import { attemptTimeout } from '../../../src/engine/duties/attempt-timeout.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { mintExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held } from '../execution/holder.ts'

const writes: Readonly<Record<string, (engine: Engine, fence: Fence) => Promise<unknown>>> = {
  complete: ({ executions }, fence) => executions.complete(fence),
  fail: ({ executions }, fence) => executions.fail({ ...fence, reason: 'broke' }),
  delay: ({ executions }, fence) => executions.delay({ ...fence, for: '1m' }),
  release: ({ executions }, fence) => executions.release(fence),
  progress: ({ executions }, fence) => executions.progress({ ...fence, percent: 1 }),
  renew: async ({ executions }, fence) => {
    const [answer] = (await executions.renew({ workerInstanceId: 'w-1', leases: [fence] })).leases
    if (answer?.kind === 'lost') throw answer.error
    return answer
  },
}

async function expectRefused(write: string, code: ErrorCode, wrong: (fence: Fence) => unknown): Promise<void> {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await withoutWriting(sql, () => refusal(code, writes[write]!(engine, wrong(fence) as Fence)))
  // It is still leased, and its own fence is still valid.
  expect(await engine.executions.complete(fence)).toMatchObject({ kind: 'completed' })
}

test.each(Object.keys(writes))('ATT-03 %s needs a fence', async (write) => {
  await expectRefused(write, 'fence_required', ({ executionId }) => ({ executionId }))
})

// Lease id and epoch replace an encoded handle: one path, and nothing to decode.
test.each(Object.keys(writes))('ATT-21 %s with a foreign fence, or with noise, is refused', async (write) => {
  const elsewhere = { executionId: mintExecutionId(), leaseId: randomUUID(), leaseEpoch: 1 }
  await expectRefused(write, 'execution_not_found', () => elsewhere)
  await expectRefused(write, 'stale_lease', (fence) => ({ ...fence, leaseId: randomUUID() }))
  await expectRefused(write, 'invalid_input', (fence) => ({ ...fence, leaseId: '\u0007\u00ff handle' }))
  await expectRefused(write, 'invalid_id', (fence) => ({ ...fence, executionId: '\u0007\u00ff' as ExecutionId }))
})

// An attempt is named by the epoch of its lease.
test.each(Object.keys(writes))(
  'ATT-22 %s under an epoch that never existed finds nothing to write to',
  async (write) => {
    await expectRefused(write, 'stale_lease', (fence) => ({ ...fence, leaseEpoch: fence.leaseEpoch + 1 }))
  },
)

test.each(Object.keys(writes))('ATT-26 %s with an epoch beyond all bounds is refused', async (write) => {
  await expectRefused(write, 'invalid_input', (fence) => ({ ...fence, leaseEpoch: 2 ** 53 }))
  await expectRefused(write, 'stale_lease', (fence) => ({ ...fence, leaseEpoch: 2 ** 53 - 1 }))
})

test('a holder whose attempt has timed out receives the state of the execution', async () => {
  const { engine, sql, clock } = await setup()
  const retry = { attempts: 2, backoff: { type: 'fixed', delayMs: '1m' } } as const
  const fence = fenceOf(await held(engine, { policy: { attemptTimeoutMs: 1000, retry } }))
  await clock.advance(1001)
  await attemptTimeout.runOnce(sql)
  const error = await refusal('stale_lease', engine.executions.complete(fence))
  expect(error.message).toContain('has ended, and the execution is delayed')
})
