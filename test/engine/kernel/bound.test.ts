// `engine.as` returns a view that adds the caller to each call. Operations and their sets exist once.
import { expect, test } from 'vitest'
import { CallerBinding, type ForCaller } from '../../../src/engine/kernel/bound.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import type { Caller } from '../../../src/engine/kernel/caller.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'

interface Noun {
  tell(text: string): string
  other(): string
}

const caller: Caller = { namespace: 'a', actor: 'key:7', keyId: null }

test('a view reads no operation until it is called, and then only that one', () => {
  const read: PropertyKey[] = []
  const verbs: ForCaller<Noun> = {
    tell: ({ namespace, actor }, text) => `${namespace} ${actor} ${text}`,
    other: () => 'other',
  }
  const counted = new Proxy(verbs, { get: (target, name) => (read.push(name), Reflect.get(target, name)) })
  const view = new CallerBinding(caller).view<Noun>(counted)
  expect(read).toEqual([])
  expect(view.tell('hello')).toBe('a key:7 hello')
  expect(read).toEqual(['tell'])
})

test('a view can be spread and destructured, and not be written to', () => {
  const verbs: ForCaller<Noun> = { tell: ({ actor }, text) => `${actor} ${text}`, other: ({ actor }) => actor }
  const view = new CallerBinding(caller).view<Noun>(verbs)
  const { tell } = view
  expect([tell('hello'), { ...view }.other(), Object.keys(view)]).toEqual(['key:7 hello', 'key:7', ['tell', 'other']])
  expect(() => Object.assign(view, { other: () => 'mine' })).toThrow(TypeError)
  expect(() => Reflect.deleteProperty(view, 'other')).not.toThrow()
  expect(new CallerBinding({ ...caller, actor: 'key:8' }).view<Noun>(verbs).other()).toBe('key:8')
})

test('calls of many callers, each bound for its call, share one set, and each acts as itself', async () => {
  const { sql } = await setup()
  const sent: string[] = []
  const watched: Sql = {
    ...around(sql, (ask) => ask()),
    query: (statement, values) => {
      sent.push(statement.name)
      return sql.query(statement, values)
    },
    pipeline: (calls, options) => {
      sent.push(...calls.map(({ statement }) => statement.name))
      return sql.pipeline(calls, options)
    },
  }
  const engine = createEngine(watched)
  const namespaces = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'a' : 'b'))
  const create = (namespace: string, index: number) =>
    engine.as({ namespace, actor: `key:${index}` }).executions.create({ kind: 'k' })
  // Lanes and queues exist, and are known, before the measured calls.
  await Promise.all([create('a', 0), create('b', 1)])
  sent.length = 0
  const created = await Promise.all(namespaces.map(create))
  expect(sent.filter((name) => name.startsWith('execution.create')).length).toBeLessThanOrEqual(2)
  const seen = await Promise.all(
    created.map(({ executionId }, index) =>
      engine.as({ namespace: namespaces[index]! }).executions.describe(executionId),
    ),
  )
  expect(seen.map((execution) => execution?.namespace)).toEqual(namespaces)
  const foreign = engine.as({ namespace: 'b' }).executions.describe(created[0]!.executionId)
  expect(await foreign).toBeNull()
})
