import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

/** Values that TypeScript would refuse. */
const anything = (value: unknown): never => value as never

test('a hole in a set is refused at its position, and a value that is no array is refused whole', async () => {
  const { engine } = await setup()
  const requests: CreateRequest[] = []
  requests[1] = { kind: 'k' }
  requests.length = 3
  const answers = await engine.executions.createMany(requests)
  expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'created', 'refused'])
  await refusal('invalid_input', engine.executions.createMany(anything(null)))
  await refusal('invalid_input', engine.executions.cancelMany(anything('abc')))
})

test.each<[string, (engine: Engine) => Promise<unknown>]>([
  ['a tag that is null', (engine) => engine.executions.list(anything({ tag: null }))],
  ['a tag with more', (engine) => engine.executions.list(anything({ tag: { key: 'a', value: 'b', x: 1 } }))],
  [
    'a key that is a symbol',
    (engine) => engine.executions.create(anything({ kind: 'k', idempotencyKey: Symbol('x') })),
  ],
  ['a key that is an object', (engine) => engine.executions.create(anything({ kind: 'k', idempotencyKey: {} }))],
  [
    'a namespace that is a number',
    (engine) => engine.as({ namespace: 'n' }).executions.list(anything({ namespace: 7 })),
  ],
  ['the same of lanes', (engine) => engine.lanes.list(anything({ namespace: 7, limit: 0 }))],
  ['exact that is a word', (engine) => engine.executions.countByState(anything({ exact: 'no' }))],
  ['an unknown filter', (engine) => engine.executions.list(anything({ lanes: ['a'] }))],
  ['an unknown caller', async (engine) => engine.as(anything({ namepsace: 'a' }))],
])('%s is invalid input, and nothing is written', async (_, work) => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, () => refusal('invalid_input', work(engine)))
})

test('the first and the last uuid belong to no execution', async () => {
  const { engine } = await setup()
  const ids = ['{fp:9}:00000000-0000-0000-0000-000000000000', '{fp:9}:ffffffff-ffff-ffff-ffff-ffffffffffff'] as const
  for (const executionId of ids) await refusal('invalid_id', engine.executions.create({ kind: 'k', executionId }))
})

test('a parent with another partition in its id has no children', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parentId = await given.waiting()
  const child = await given.waiting({ parentId })
  const childrenOf = async (id: typeof parentId) =>
    (await engine.executions.list({ parentId: id })).executions.map((one) => one.executionId)
  expect(await childrenOf(parentId)).toEqual([child])
  const n = Number(/\d+/.exec(parentId)![0])
  expect(await childrenOf(parentId.replace(`{fp:${n}}`, `{fp:${(n + 1) % 256}}`) as typeof parentId)).toEqual([])
})
