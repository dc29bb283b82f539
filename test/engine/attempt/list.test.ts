import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from '../execution/holder.ts'

test('attempts are listed in pages, with the running one', async () => {
  const { engine } = await setup()
  const retry = { attempts: 5, backoff: { type: 'fixed', delayMs: 0 } } as const
  let claim = await held(engine, { policy: { retry } })
  for (let attempts = 1; attempts <= 4; attempts += 1) {
    await engine.executions.fail({ ...fenceOf(claim), reason: `failure ${attempts}` })
    claim = await take(engine)
  }
  const { executionId } = claim
  const reasons: unknown[] = []
  let cursor: string | null = null
  do {
    const page = await engine.attempts.list(executionId, { limit: 2, ...(cursor === null ? {} : { cursor }) })
    expect(page.attempts.length).toBeLessThanOrEqual(2)
    reasons.push(...page.attempts.map(({ attemptIndex, failureReason }) => [attemptIndex, failureReason]))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(reasons).toEqual([
    [0, 'failure 1'],
    [1, 'failure 2'],
    [2, 'failure 3'],
    [3, 'failure 4'],
    [4, null],
  ])
  expect(await engine.attempts.list(executionId, { limit: 0 })).toEqual({ attempts: [], nextCursor: null })
})

test('a limit, a cursor or a field that does not fit is refused', async () => {
  const { engine } = await setup()
  const { executionId } = await held(engine)
  await refusal('invalid_input', engine.attempts.list(executionId, { limit: -1 }))
  await refusal('invalid_cursor', engine.attempts.list(executionId, { cursor: 'damaged' }))
  await refusal('invalid_input', engine.attempts.list(executionId, { page: 2 } as object))
})
