// The OpenAPI document, made from routes and shapes.
import { z } from 'zod'
import { pathFields, type Route } from '../api/route.ts'
import { operations, type Operation } from '../api/routes.ts'
import { problem } from './schema/problem.ts'
import { shapesOf } from './shapes.ts'
import { schemasOf, type JsonObject } from './openapi-schema.ts'

export function openApiDocument(version: string): JsonObject {
  const parts = operations.map(partsOf)
  const named = new Map<string, z.ZodType>([['Problem', problem]])
  for (const { names, parameters, body, answer } of parts) {
    named.set(names.parameters, parameters)
    if (body !== null) named.set(names.body, body)
    if (answer !== null) named.set(names.answer, answer)
  }
  const schemas = schemasOf(named)
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const part of parts) {
    const { path, method } = part.operation.route
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(part, schemas[part.names.parameters]!) }
  }
  const fields = new Set(parts.map(({ names }) => names.parameters))
  const components = Object.entries(schemas).filter(([name]) => !fields.has(name))
  return {
    openapi: '3.1.1',
    info: {
      title: 'FlowFabric',
      version,
      description: 'Durable executions over HTTP: every operation of the engine, by the same words.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that gave this document.' }],
    security: [{ apiKey: [] }],
    tags: tags(),
    paths,
    components: {
      schemas: Object.fromEntries(components.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `ff_...`.' } },
      responses: {
        Problem: {
          description: 'Refused; `code` says why, `detail` in a sentence.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  }
}

interface OpenApiParts {
  readonly operation: Operation
  readonly names: { readonly parameters: string; readonly body: string; readonly answer: string }
  /** The fields of the path and the query. */
  readonly parameters: z.ZodObject
  readonly body: z.ZodObject | null
  readonly answer: z.ZodType | null
}

function partsOf(operation: Operation): OpenApiParts {
  const { noun, verb, route } = operation
  const { request, answer } = shapesOf(noun, verb)
  const inPath = pathFields(route.path)
  const fields = Object.entries(request.shape) as [string, z.ZodType][]
  const isParameter = ([field]: [string, unknown]): boolean => route.body === 'none' || inPath.includes(field)
  const others = fields.filter((field) => !isParameter(field))
  const name = route.operationId.charAt(0).toUpperCase() + route.operationId.slice(1)
  return {
    operation,
    names: { parameters: `${name}Parameters`, body: `${name}Request`, answer: `${name}Answer` },
    parameters: z.strictObject(Object.fromEntries(fields.filter(isParameter))),
    body: others.length === 0 ? null : z.strictObject(Object.fromEntries(others)),
    answer: route.streams === 'only' ? null : answer,
  }
}

function describe({ operation, names, body, answer }: OpenApiParts, fields: JsonObject): JsonObject {
  const { noun, route } = operation
  const inPath = pathFields(route.path)
  const required = (fields['required'] ?? []) as readonly string[]
  const parameters = [
    ...Object.entries((fields['properties'] ?? {}) as Readonly<Record<string, JsonObject>>).map(([name, schema]) => ({
      name,
      in: inPath.includes(name) ? 'path' : 'query',
      required: required.includes(name),
      schema,
      ...(isObject(schema) && { style: 'deepObject', explode: true }),
    })),
    ...headersOf(route),
  ]
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: needs(route),
    tags: [noun ?? 'server'],
    ...(route.scopes.length === 0 && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && { requestBody: { required: !body.safeParse({}).success, content: json(names.body) } }),
    responses: {
      ...answersOf(operation, answer, answer === null ? null : names.answer),
      '4XX': { $ref: '#/components/responses/Problem' },
      '5XX': { $ref: '#/components/responses/Problem' },
    },
  }
}

function needs({ scopes }: Route): string {
  if (scopes.length === 0) return 'Needs no API key: what the request carries is the right to it.'
  return `Needs a key with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`
}

function isObject(schema: JsonObject): boolean {
  return schema['type'] === 'object' || schema['$ref'] === '#/components/schemas/Tags'
}

function headersOf(route: Route): JsonObject[] {
  const header = (name: string, description: string): JsonObject => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })
  return [
    ...(route.takesIdempotencyKey === true ? [header('Idempotency-Key', 'The field `idempotencyKey`.')] : []),
    ...(route.streams === undefined ? [] : [header('Last-Event-ID', 'The id of the last block that was heard.')]),
  ]
}

function json(name: string): JsonObject {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } }
}

function answersOf(operation: Operation, answer: z.ZodType | null, name: string | null): JsonObject {
  const { created, streams, summary } = operation.route
  const events = { 'text/event-stream': { schema: { type: 'string' } } }
  if (name === null && streams === undefined) return { '204': { description: 'Done.' } }
  const content = { ...(name !== null && json(name)), ...(streams !== undefined && events) }
  return {
    '200': { description: `${summary}.`, content },
    ...(created !== undefined && { '201': { description: 'It is new.', content, ...linksOf(operation, answer) } }),
  }
}

/** Links from a created object to its description: the ids in the response are those that the path needs. */
function linksOf({ noun }: Operation, answer: z.ZodType | null): JsonObject {
  const given = fieldsOf(answer)
  const described = operations.filter((other) => other.noun === noun && other.verb === 'describe')
  const links = described.flatMap(({ route: { operationId, path } }) => {
    const needed = pathFields(path)
    if (!needed.every((field) => given.includes(field))) return []
    const parameters = Object.fromEntries(needed.map((field) => [field, `$response.body#/${field}`]))
    return [
      [operationId, { operationId, parameters, description: 'The created resource, in its current state.' }] as const,
    ]
  })
  return links.length === 0 ? {} : { links: Object.fromEntries(links) }
}

/** The fields that every form of the response has. */
function fieldsOf(answer: z.ZodType | null): readonly string[] {
  if (answer instanceof z.ZodObject) return Object.keys(answer.shape)
  if (!(answer instanceof z.ZodUnion)) return []
  const [first = [], ...others] = (answer.options as readonly z.ZodType[]).map(fieldsOf)
  return first.filter((field) => others.every((fields) => fields.includes(field)))
}

function tags(): JsonObject[] {
  const nouns = [...new Set(operations.map(({ noun }) => noun ?? 'server'))]
  return nouns.map((name) => ({ name, description: `Operations on ${name}.` }))
}
