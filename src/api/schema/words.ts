// What the shapes of all nouns are made of. A shape documents a request or an answer and says where its bytes are; whether a
// value is good is for the engine to say, so that the same fault has the same answer on every URL.
import { z } from 'zod'
import { limits } from '../../model/limits.ts'
import { publicStates } from '../../model/state.ts'
import { cursorText, edgeId, epoch, idPattern, pageLimit, partitionPattern, tagKey, tagValue } from './bounds.ts'

// The last millisecond of the year 9999.
const lastTime = 253_402_300_799_999

interface Named {
  readonly schema: z.ZodType
  readonly description: string | undefined
}

/** Shapes with a name of their own in the OpenAPI document. */
export const registry = new Map<string, Named>()

export function named<S extends z.ZodType>(id: string, schema: S, description?: string): S {
  registry.set(id, { schema, description })
  return schema
}

const open = new WeakSet<z.core.$ZodType>()

/** Of an answer, which may get more fields in a later version. */
export function answer<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const schema = z.strictObject(shape)
  open.add(schema)
  return schema
}

export function isOpen(schema: z.core.$ZodType): boolean {
  return open.has(schema)
}

/** Of a request, which is refused with a field that nobody knows. */
export function request<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  return z.strictObject(shape)
}

export const bytes = named('Bytes', z.string().meta({ contentEncoding: 'base64' }), 'Bytes in base64.')
export const executionId = named(
  'ExecutionId',
  z.string().regex(idPattern),
  'Such as `{fp:7}:0190a000-0000-7000-8000-000000000000`.',
)
export const flowId = named(
  'FlowId',
  z.string().regex(idPattern),
  'Such as `{fp:7}:0190a000-0000-7000-8000-000000000000`.',
)
export const waitpointId = named(
  'WaitpointId',
  z.string().regex(idPattern),
  'Such as `{fp:7}:0190a000-0000-7000-8000-000000000000`.',
)
export const json = named('Json', z.unknown(), 'Any JSON value.')
export const time = named('Time', z.int().min(0).max(lastTime), "Milliseconds since 1970, by the database's clock.")
export const milliseconds = z.int().min(0)
export const count = z.int().min(0)
/** From `least` to `most` milliseconds. A text has one unit; its documented forms stay below every bound that is at least a day. */
export function durationWithin(least: number, most: number) {
  const seconds = Math.min(99_999, Math.floor(most / 1000))
  return z.union([
    z.int().min(least).max(most),
    z.string().regex(new RegExp(`^[1-9][0-9]{0,${String(seconds).length - 2}} ?(?:s|seconds)$|^(?:1|2) ?(?:h|hours)$`)),
  ])
}

export const duration = named(
  'Duration',
  z.union([
    z.int().min(0).max(limits.durationMs),
    z.string().regex(/^[1-9][0-9]{0,3} ?(?:ms|s|seconds|m|minutes|h|hours|d|days)$/),
  ]),
  'Milliseconds, or a text with one unit such as `30s`, `5m`, `2 days`.',
)
/** Of a lease. */
export const leaseTtl = durationWithin(limits.leaseTtlMinMs, limits.leaseTtlMaxMs)
/** Of a request that waits. */
export const shortWait = z.union([z.int().min(0).max(60_000), z.string().regex(/^(?:[1-5]?[0-9]s|1m)$/)])
export const partition = z.union([
  z.string().regex(new RegExp(`^\\{fp:${partitionPattern}\\}$`)),
  z
    .int()
    .min(0)
    .max(limits.partitionCount - 1),
])
export const tags = named('Tags', z.record(tagKey, tagValue), `At most ${limits.tagCount}.`)
export const publicState = named('PublicState', z.enum(publicStates))
export const cursor = named('Cursor', cursorText, '`nextCursor` of the page before, with the same filter.')

export const page = { limit: pageLimit.optional(), cursor: cursor.optional() }
export const nextCursor = cursor.nullable()

/** The lease that allows a worker's write. */
export const fence = { executionId, leaseId: edgeId, leaseEpoch: epoch }

export const refused = named(
  'Refused',
  answer({ kind: z.literal('refused'), error: named('RefusedError', errorShape()) }),
  'One item of a set that was refused, in its place.',
)

function errorShape() {
  return answer({
    code: z.string(),
    message: z.string(),
    status: z.int(),
    retryable: z.boolean(),
    details: z.record(z.string(), json),
  })
}

export const engineError = refused.shape.error

/** What a set is asked, and what it answers: in order, one for each. */
export function set<R extends z.ZodType>(item: R) {
  return request({ items: z.array(item).max(limits.setItems) })
}

export function setAnswer<A extends z.ZodType>(item: A) {
  return answer({ items: z.array(z.union([item, refused])) })
}

export interface OperationShapes {
  readonly request: z.ZodObject
  /** Null: no content. */
  readonly answer: z.ZodType | null
}
