import { expect, test } from 'vitest'
import type { SuspensionPage } from '../../../../src/engine/execution/list-suspended.ts'
import type { ExecutionId } from '../../../../src/model/id.ts'
import { setup } from '../../../support/setup.ts'
import { answer, waiting } from './waiting.ts'

test('SUSP-15 suspended executions are listed by the time of their suspension, in pages', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const reasons = ['waiting_for_signal', 'waiting_for_approval', 'manual_pause'] as const
  const suspended = []
  for (const reason of reasons) {
    suspended.push(await waiting(engine, { reason }))
    await clock.advance(100)
  }
  const { suspensions, nextCursor } = await engine.suspensions.list({ limit: 10 })
  expect(nextCursor).toBeNull()
  expect(suspensions.map(({ reason }) => reason)).toEqual(reasons)
  expect(suspensions[0]).toEqual({
    executionId: suspended[0]!.claim.executionId,
    namespace: 'default',
    lane: 'default',
    kind: 'k',
    suspensionId: suspended[0]!.suspension.suspensionId,
    reason: 'waiting_for_signal',
    suspendedAt: suspensions[1]!.suspendedAt - 100,
    timeoutAt: null,
    timeoutBehaviour: 'fail',
    escalatedAt: null,
    conditionKind: 'signal',
  })
  expect(await engine.suspensions.list({ limit: 0 })).toEqual({ suspensions: [], nextCursor: null })
  const first = await engine.suspensions.list({ limit: 2 })
  const second = await engine.suspensions.list({ limit: 2, cursor: first.nextCursor! })
  expect([...first.suspensions, ...second.suspensions]).toEqual(suspensions)
  await answer(engine, suspended[1]!.waitpoint)
  expect((await engine.suspensions.list()).suspensions).toEqual([suspensions[0], suspensions[2]])
})

test('SUSP-15 those of one moment are listed by their ids, and no page omits or repeats one', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const ids: ExecutionId[] = []
  for (let count = 0; count < 5; count += 1) ids.push((await waiting(engine)).claim.executionId)
  const seen: ExecutionId[] = []
  let cursor: string | null = null
  do {
    const page: SuspensionPage = await engine.suspensions.list({ limit: 2, ...(cursor === null ? {} : { cursor }) })
    seen.push(...page.suspensions.map(({ executionId }) => executionId))
    cursor = page.nextCursor
  } while (cursor !== null)
  const byUuid = (one: ExecutionId, other: ExecutionId) => (one.slice(-36) < other.slice(-36) ? -1 : 1)
  expect(seen).toEqual(ids.toSorted(byUuid))
})
