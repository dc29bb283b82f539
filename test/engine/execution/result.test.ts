import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'

test('EXEC-25 a result returns byte for byte, and a running execution has none', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const notUtf8 = new Uint8Array([0xff, 0x00, 0xc3, 0x28, 0x80])
  const done = await given.completed({ result: notUtf8, encoding: 'raw' })
  const answer = await engine.executions.result(done)
  expect(answer).toMatchObject({ kind: 'completed', encoding: 'raw' })
  expect(answer?.kind === 'completed' && [...answer.result!]).toEqual([...notUtf8])
  expect(await engine.executions.result(await given.active())).toEqual({ kind: 'pending', publicState: 'active' })
})

test('an execution may complete without a result, or with an empty one', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  expect(await engine.executions.result(await given.completed())).toEqual({
    kind: 'completed',
    result: null,
    encoding: null,
  })
  const empty = await engine.executions.result(await given.completed({ result: new Uint8Array() }))
  expect(empty?.kind === 'completed' && empty.result?.byteLength).toBe(0)
})

test.each(['failed', 'cancelled', 'expired', 'skipped'] as const)(
  'an execution that %s has its reason instead',
  async (state) => {
    const { engine, sql } = await setup()
    const given = factory(sql)
    expect(await engine.executions.result(await given[state]({ reason: 'why' }))).toEqual({
      kind: state,
      reason: 'why',
    })
    expect(await engine.executions.result(await given[state]())).toEqual({ kind: state, reason: null })
  },
)

test.each([
  ['waiting', 'waiting'],
  ['delayed', 'delayed'],
  ['suspended', 'suspended'],
  ['blocked', 'waiting_children'],
  ['resumable', 'resumable'],
] as const)('the result of an execution that is %s is pending', async (state, publicState) => {
  const { engine, sql } = await setup()
  expect(await engine.executions.result(await factory(sql)[state]())).toEqual({ kind: 'pending', publicState })
})
