// How many waitpoints a suspension may have, bound or only named by its condition.
import { expect, test } from 'vitest'
import type { Condition } from '../../../src/model/condition.ts'
import { limits } from '../../../src/model/limits.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held } from './holder.ts'

const most = limits.waitpointCount

function keys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => index.toString(36))
}

function anyThrough(waitpoints: readonly string[]): Condition {
  return { kind: 'count', n: 1, distinct: 'signals', waitpoints }
}

test('the condition may name as many waitpoints as can be bound, and not one more', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const leaves = keys(most + 1).map((waitpoint): Condition => ({ kind: 'signal', waitpoint }))
  await withoutWriting(sql, async () => {
    for (const condition of [anyThrough(keys(most + 1)), { kind: 'anyOf', members: leaves } as const]) {
      for (const suspend of [engine.executions.suspend, engine.executions.trySuspend]) {
        const error = await refusal('invalid_input', suspend({ ...fence, condition }))
        expect(error.message).toBe(
          `waitpoints is ${most + 1} different ones in the condition; it must be at most ${most}`,
        )
      }
    }
    const waitpoints = keys(most + 1).map((key) => ({ key }))
    await refusal('invalid_input', engine.executions.suspend({ ...fence, condition: leaves[0]!, waitpoints }))
  })
  // A key that is named twice is one waitpoint.
  const members = [...leaves.slice(0, most), leaves[0]!]
  const answer = await engine.executions.suspend({ ...fence, condition: { kind: 'anyOf', members } })
  if (answer.kind !== 'suspended') return expect.unreachable(answer.kind)
  expect(answer.waitpoints.map(({ key }) => key)).toEqual(keys(most))
})

test('a hundred thousand waitpoints are refused, named, bound and not bound', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine))
  const condition = anyThrough(keys(100_000))
  const error = await refusal('invalid_input', engine.executions.suspend({ ...fence, condition }))
  expect(error.message).toContain('100000 different ones')
  const bound = keys(100_000).map((key) => ({ key }))
  await refusal('invalid_input', engine.executions.suspend({ ...fence, condition, waitpoints: bound }))
  const waitpoints = bound.slice(0, most)
  await refusal('invalid_condition', engine.executions.suspend({ ...fence, condition, waitpoints }))
  await engine.executions.complete(fence)
})
