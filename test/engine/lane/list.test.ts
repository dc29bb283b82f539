import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'

test('OPS-13 lanes are listed by namespace and name, page by page; a limit of nought is an empty page', async () => {
  const { engine } = await setup()
  const places = [
    ['b', 'x'],
    ['a', 'y'],
    ['a', 'Z'],
    ['a', 'x'],
    ['c', 'x'],
  ] as const
  for (const [namespace, lane] of places) await engine.executions.create({ kind: 'k', namespace, lane })
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await engine.lanes.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    found.push(...page.lanes.map((lane) => `${lane.namespace}/${lane.lane}`))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  // In the order of bytes, so that every machine agrees.
  expect(found).toEqual(['a/Z', 'a/x', 'a/y', 'b/x', 'c/x'])
  expect(await engine.lanes.list({ limit: 0 })).toEqual({ lanes: [], nextCursor: null })
})

test('lanes can be listed of one namespace, and a bound caller sees only its own', async () => {
  const { engine } = await setup()
  for (const namespace of ['a', 'b']) await engine.executions.create({ kind: 'k', namespace, lane: 'x' })
  const namespaces = async (by = engine, request = {}) =>
    (await by.lanes.list(request)).lanes.map((lane) => lane.namespace)
  expect(await namespaces(engine, { namespace: 'b' })).toEqual(['b'])
  expect(await namespaces(engine.as({ namespace: 'a' }))).toEqual(['a'])
  expect(await namespaces(engine.as({ namespace: 'a' }), { namespace: 'b' })).toEqual([])
})
