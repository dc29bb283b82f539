// The table of routes against the engine's contract, and both against the shapes.
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Route } from '../../src/api/route.ts'
import { pathFields } from '../../src/api/route.ts'
import { operations, routes } from '../../src/api/routes.ts'
import { shapesOf } from '../../src/server/shapes.ts'
import { scopes } from '../../src/model/api-key.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { bytesIn, errorsIn } from './paths-in.ts'

type Operations = {
  readonly [Noun in Exclude<keyof Engine, 'as' | 'serverTime'>]: { readonly [Verb in keyof Engine[Noun]]: Route }
}

// The compiler refuses a noun or a verb without a route.
const complete: Operations = routes

test('every operation of the engine has a route, and every route an operation', () => {
  // The test only lists the engine's nouns and verbs, and sends no query.
  const engine = createEngine(unused()) as unknown as Record<string, Record<string, unknown>>
  const nouns = Object.keys(engine).filter((name) => typeof engine[name] === 'object')
  const found = nouns.flatMap((noun) => Object.keys(engine[noun]!).map((verb) => `${noun}.${verb}`))
  const routed = operations.filter(({ noun }) => noun !== null).map(({ noun, verb }) => `${noun}.${verb}`)
  expect(routed.toSorted()).toEqual(found.toSorted())
  expect(Object.keys(complete).length).toBeGreaterThan(12)
})

test('no two operations share an operationId, or a method and path', () => {
  const ids = operations.map(({ route }) => route.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const places = operations.map(({ route }) => `${route.method} ${route.path.replaceAll(/\{\w+\}/g, '{}')}`)
  expect(new Set(places).size).toBe(places.length)
})

test.each(operations.map(({ noun, verb, route }) => [route.operationId, noun, verb, route] as const))(
  '%s has fields for its path and arguments, and names the places of bytes and errors',
  (_, noun, verb, route) => {
    const { request, answer } = shapesOf(noun, verb)
    const fields = Object.keys(request.shape)
    expect(fields).toEqual(expect.arrayContaining([...pathFields(route.path)]))
    expect([...fields, 'request']).toEqual(expect.arrayContaining([...route.args]))
    expect(scopes).toEqual(expect.arrayContaining([...route.scopes]))
    expect(bytesIn(answer)).toEqual([...(route.bytes ?? [])].toSorted())
    expect(errorsIn(answer)).toEqual([...(route.errors ?? [])].toSorted())
  },
)

function unused(): Sql {
  const known: Partial<Sql> = { kind: 'embedded', schema: 'flowfabric' }
  const handler: ProxyHandler<Sql> = { get: (_, name) => known[name as keyof Sql] ?? (() => unused()) }
  return new Proxy({} as Sql, handler)
}
