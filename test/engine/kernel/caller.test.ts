import { expect, test } from 'vitest'
import type { CallerOptions } from '../../../src/engine/kernel/caller.ts'
import { EngineError } from '../../../src/model/errors.ts'
import { setup } from '../../support/setup.ts'

async function refusedBinding(bound: CallerOptions, wanted: CallerOptions): Promise<string> {
  const { engine } = await setup()
  const from = engine.as(bound)
  try {
    from.as(wanted)
  } catch (error) {
    if (EngineError.is(error)) return error.code
    throw error
  }
  return 'not refused'
}

test('a bound engine can be bound again to its own namespace, never to another or to all', async () => {
  expect(await refusedBinding({ namespace: 'a' }, { namespace: 'a' })).toBe('not refused')
  expect(await refusedBinding({ namespace: 'a' }, { actor: 'ann' })).toBe('not refused')
  expect(await refusedBinding({ namespace: 'a' }, { namespace: 'b' })).toBe('namespace_mismatch')
  expect(await refusedBinding({ namespace: 'a' }, { namespace: '*' })).toBe('namespace_mismatch')
  expect(await refusedBinding({ namespace: '*' }, { namespace: 'b' })).toBe('not refused')
})

test.each([
  { namespace: '' },
  { namespace: 'a\0b' },
  { namespace: 'x'.repeat(129) },
  { actor: '' },
  { actor: '\uD800' },
  { actor: 7 as never },
])('an invalid caller is refused: %j', async (wanted) => {
  expect(await refusedBinding({}, wanted)).toBe('invalid_input')
})

test('a binding narrows what the caller sees and keeps the actor', async () => {
  const { engine } = await setup()
  const ann = engine.as({ actor: 'ann' }).as({ namespace: 'a' })
  const { executionId } = await ann.executions.create({ kind: 'k' })
  await ann.executions.cancel({ executionId })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    namespace: 'a',
    creator: 'ann',
    cancelledBy: 'ann',
  })
})
