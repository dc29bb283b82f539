// One operation over HTTP: reads the fields, calls the engine that is bound to the caller, writes the response.
import type { Context } from 'hono'
import { argsOf, type Fields } from '../api/call.ts'
import { headers } from '../api/headers.ts'
import { pathFields, type Route } from '../api/route.ts'
import type { Operation } from '../api/routes.ts'
import { shapesOf } from './shapes.ts'
import { toWire } from '../api/wire.ts'
import type { Engine } from '../engine/contract.ts'
import { parseDuration } from '../model/duration.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { readJson } from './body.ts'
import type { TakenBytes } from './body-budget.ts'
import type { Metrics } from './metrics.ts'
import type { Answer } from './remembered.ts'
import { addPlain } from './plain-answer.ts'
import { decodeBytes } from './shape-walk.ts'
import { readQuery } from './query.ts'

const longestWaitMs = 60_000
const defaultWaitMs = 30_000

export async function readFields(
  { noun, verb, route }: Operation,
  context: Context,
  taken: TakenBytes,
): Promise<Fields> {
  const shape = shapesOf(noun, verb).request
  const inPath = pathParameters(route, context)
  const given =
    route.body === 'none'
      ? readQuery(shape, new URL(context.req.url).searchParams)
      : await readJson(context.req.raw, route, taken)
  refuseOtherIds(inPath, given)
  const fields = { ...given, ...inPath, ...keyFromHeader(route, context, given) }
  refuseUnknownFields(route.operationId, fields, Object.keys(shape.shape))
  return decodeBytes(shape, fields) as Fields
}

/** Returns the error as the caller may see it. */
export type ExposeError = (error: EngineError) => EngineError

export async function perform(
  operation: Operation,
  engine: Engine,
  fields: Fields,
  metrics: Metrics,
  exposeError: ExposeError,
  hasPlain: boolean,
): Promise<Answer> {
  const { noun, verb, route } = operation
  const nouns = engine as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>
  const holder = noun === null ? (nouns as unknown as (typeof nouns)[string]) : nouns[noun]!
  const began = performance.now()
  const answer = await holder[verb]!(...argsOf(route, fields))
  metrics.answered(operation, fields, answer, performance.now() - began)
  return answerOf(route, answer, fields, exposeError, hasPlain)
}

/** With `hasPlain` the response also has bytes of JSON as JSON. */
export function answerOf(
  route: Route,
  answer: unknown,
  fields: Fields,
  exposeError: ExposeError,
  hasPlain = false,
): Answer {
  if (answer === undefined) return { status: 204, text: '' }
  if (answer === null && route.absent !== undefined) throw absentError(route, fields)
  const wired = toWire(route.wrap === undefined ? answer : { [route.wrap]: answer }, exposeError)
  if (hasPlain) addPlain(route, wired)
  const isNew = route.created !== undefined && (answer as { kind?: unknown }).kind === route.created
  return { status: isNew ? 201 : 200, text: JSON.stringify(wired) }
}

/** The fields with a wait that this server allows, and the signal that ends it. */
export function waiting(route: Route, fields: Fields, signal: AbortSignal): Fields {
  if (route.waits === undefined) return fields
  const given = fields[route.waits]
  // Without a timeout the operation does not wait. If it would wait for ever, it waits for the default time of a
  // request.
  if (given === undefined) return route.waits === 'wait' ? fields : { ...fields, timeout: defaultWaitMs, signal }
  if (parseDuration(route.waits, given) > longestWaitMs) {
    throw refusal('invalid_input', route.waits, show(given), 'a minute at most; ask again when it is over')
  }
  return { ...fields, signal }
}

function pathParameters({ path }: Route, context: Context): Fields {
  return Object.fromEntries(pathFields(path).map((name) => [name, context.req.param(name)]))
}

function refuseOtherIds(inPath: Fields, given: Fields): void {
  for (const [name, value] of Object.entries(inPath)) {
    if (given[name] === undefined || given[name] === value) continue
    const sentence = `${name} is ${show(given[name])} in the request and ${show(value)} in its path; leave it out`
    throw new EngineError('invalid_input', sentence, { field: name })
  }
}

function keyFromHeader(route: Route, context: Context, given: Fields): Fields {
  const key = context.req.header(headers.idempotencyKey)
  if (key === undefined || route.method === 'GET') return {}
  if (route.takesIdempotencyKey !== true) {
    const sentence = `${route.operationId} takes no Idempotency-Key; leave it out`
    throw new EngineError('invalid_input', sentence, { field: 'Idempotency-Key' })
  }
  const { idempotencyKey } = given
  if (idempotencyKey !== undefined && idempotencyKey !== key) {
    const sentence = 'the header Idempotency-Key and the field idempotencyKey are not the same; send one of them'
    throw new EngineError('invalid_input', sentence, { field: 'idempotencyKey' })
  }
  return { idempotencyKey: key }
}

// Fields of the path are in every log on the way. Fields of the body or the query may be secret, and are not repeated.
function absentError({ absent, operationId, path }: Route, fields: Fields): EngineError {
  const said = pathFields(path).map((name) => [name, fields[name]] as const)
  const what = said.map(([name, value]) => `${name} ${show(value)}`).join(', ')
  const sentence =
    what === ''
      ? `${operationId} found nothing for the values of this request, which are not repeated here; check the request`
      : `${operationId} found nothing for ${what}; check the id and the namespace`
  return new EngineError(absent!, sentence, Object.fromEntries(said))
}
