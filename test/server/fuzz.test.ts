// Sends every operation of the OpenAPI document every wrong request that its schema suggests. Each answer has the documented
// shape or is a refusal, and no request is ever a fault of the server.
import { expect, inject, test } from 'vitest'
import { operations, type Operation } from '../../src/api/routes.ts'
import { limits } from '../../src/model/limits.ts'
import { openApiDocument } from '../../src/server/openapi.ts'
import { appSetup, type AppFixture } from './app-setup.ts'
import { brokenBodies, junk, sampleOf, type Schema } from './sample.ts'
import { patience } from '../support/patience.ts'

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema }

interface Described {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

const document = openApiDocument('1.0.0') as {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}
const { schemas } = document.components
const nouns = [...new Set(operations.map(({ noun }) => noun ?? 'server'))]

// One project is enough: nothing here depends on the database.
test.skipIf(inject('backend') === 'postgres').each(nouns)(
  '%s: no request causes a fault',
  { timeout: patience(240_000) },
  async (noun) => {
    const { ask, logged } = await faultless()
    for (const operation of operations.filter((each) => (each.noun ?? 'server') === noun)) {
      for (const [path, body, headers] of requestsTo(operation)) {
        const asked = await ask(operation.route.method, path, body, headers)
        const said = `${operation.route.operationId} ${path.slice(0, 300)} ${JSON.stringify(body)?.slice(0, 300)}`
        expect(asked.status, `${said}: ${JSON.stringify(asked.body)} ${logged.join('\n')}`).toBeLessThan(500)
      }
    }
  },
)

async function faultless(): Promise<Pick<AppFixture, 'ask'> & { logged: string[] }> {
  const logged: string[] = []
  const keep = (message: string): void => void logged.push(message)
  const logger = { debug: keep, info: keep, warn: keep, error: keep }
  const { ask } = await appSetup({ logger })
  return { ask, logged }
}

type Request = readonly [path: string, body?: unknown, headers?: Record<string, string>]

function* requestsTo({ route }: Operation): Generator<Request> {
  const { parameters = [], requestBody } = document.paths[route.path]![route.method.toLowerCase()]!
  const schema = requestBody?.content['application/json'].schema
  const body = schema === undefined ? undefined : sampleOf(schema, schemas)
  const right = pathWith(route.path, parameters)
  yield [right, body]
  yield [`${right}${right.includes('?') ? '&' : '?'}unheard=1`, body]
  for (const { name, in: place, schema } of parameters) {
    for (const value of place === 'header' ? [] : junk) {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      if (text === '' && place === 'path') continue
      yield [pathWith(route.path, parameters, { name, text, schema }), body]
    }
  }
  if (route.body === 'none') return
  for (const broken of brokenBodies) yield [right, broken]
  yield [right, body ?? {}, { 'content-type': 'text/xml' }]
  yield [right, JSON.stringify({ ...body, padding: 'x'.repeat(limits.batchBodyBytes) })]
  if (body === undefined) return
  yield [right, { ...body, unheard: 1 }]
  for (const name of Object.keys(body)) {
    const { [name]: _, ...without } = body
    yield [right, without]
    for (const value of junk) yield [right, { ...body, [name]: value }]
    for (const inner of brokenInside(body[name])) yield [right, { ...body, [name]: inner }]
  }
}

// Deeper down a few kinds of nonsense are enough: the same code reads a place wherever it occurs.
const innerJunk = [null, '\u0000', { unheard: 1 }] as const

function* brokenInside(value: unknown): Generator {
  if (typeof value !== 'object' || value === null) return
  const isList = Array.isArray(value)
  for (const [name, inner] of Object.entries(value)) {
    const set = (other: unknown): unknown => (isList ? [other] : { ...value, [name]: other })
    for (const other of innerJunk) yield set(other)
    for (const deeper of brokenInside(inner)) yield set(deeper)
  }
}

function pathWith(
  path: string,
  parameters: readonly Parameter[],
  odd?: { name: string; text: string; schema: Schema },
): string {
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, required, schema } of parameters) {
    const sample = name === odd?.name ? odd.text : String(sampleOf(schema, schemas))
    if (place === 'path')
      filled = filled.replace(`{${name}}`, encodeURIComponent(sample.replaceAll(/\p{Surrogate}/gu, '?')))
    else if (place === 'query' && (required || name === odd?.name)) query.set(name, sample)
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`
}
