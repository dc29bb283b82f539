import { expect, test } from 'vitest'
import { operations } from '../../src/api/routes.ts'
import { codeVersion } from '../../src/model/version.ts'
import { openApiDocument } from '../../src/server/openapi.ts'
import { appSetup } from './app-setup.ts'

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string; security?: unknown[] }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

const document = openApiDocument('1.2.3') as unknown as Document

test('OPS-14 the document has the version and every operation, at its path and method', async () => {
  const { ask } = await appSetup()
  const { body } = await ask('GET', '/openapi.json')
  expect(body.openapi).toMatch(/^3\.1\./)
  expect(body.info).toMatchObject({ title: expect.stringContaining('FlowFabric'), version: codeVersion })
  const found = Object.entries(body.paths as Document['paths']).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
  )
  const routed = operations.map(({ route }) => `${route.method} ${route.path} ${route.operationId}`)
  expect(found.toSorted()).toEqual(routed.toSorted())
})

test('every reference has a schema, and every schema has a reference', () => {
  const text = JSON.stringify(document)
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!))
  expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted())
})

test('requests refuse unknown fields, answers may grow, and no detail of a validator leaks', () => {
  const { schemas } = document.components
  expect(schemas['CreateExecutionRequest']).toMatchObject({ additionalProperties: false, required: ['kind'] })
  expect(schemas['Execution']).not.toHaveProperty('additionalProperties')
  expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  expect(schemas['Bytes']).toMatchObject({ type: 'string', contentEncoding: 'base64' })
})

test('only routes with a right of their own need no key', () => {
  const open = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ security }) => security?.length === 0)
  expect(open.map(({ operationId }) => operationId).toSorted()).toEqual([
    'deliverSignal',
    'deliverSignals',
    'describeLink',
    'redeemLink',
  ])
})
