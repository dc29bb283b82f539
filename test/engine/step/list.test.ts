import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { fenceOf, held } from '../execution/holder.ts'
import { bySets } from '../../../src/model/sets.ts'

test('steps are listed page by page, in the order in which they were recorded', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const names = Array.from({ length: 25 }, (_, index) => `step ${String(24 - index).padStart(2, '0')}`)
  for (const name of names) await engine.steps.record({ ...fenceOf(claim), name, kind: 'step', state: 'succeeded' })
  // Recorded again, so its first number is skipped.
  await engine.steps.record({ ...fenceOf(claim), name: 'sleep', kind: 'sleep', state: 'pending', dueIn: 0 })
  await engine.steps.record({ ...fenceOf(claim), name: 'sleep', kind: 'sleep', state: 'succeeded' })
  const seen: string[] = []
  const numbers: number[] = []
  let cursor: string | null = null
  do {
    const page = await engine.steps.list(claim.executionId, { limit: 10, ...(cursor !== null && { cursor }) })
    seen.push(...page.steps.map((step) => step.name))
    numbers.push(...page.steps.map((step) => step.number))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(seen).toEqual([...names, 'sleep'])
  expect(numbers).toEqual(seen.map((_, index) => index + 1))
  expect(await engine.steps.list(claim.executionId, { limit: 0 })).toEqual({ steps: [], nextCursor: null })
})

test('a long history is one page, when the caller requests one', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const names = Array.from({ length: 1001 }, (_, index) => `step ${index}`)
  const request = { ...fenceOf(claim), kind: 'step', state: 'succeeded' } as const
  await bySets(
    names.map((name) => ({ ...request, name })),
    (set) => engine.steps.recordMany(set),
  )
  const { steps, nextCursor } = await engine.steps.list(claim.executionId, { limit: 10_000 })
  expect([new Set(steps.map((step) => step.name)).size, nextCursor]).toEqual([1001, null])
})
