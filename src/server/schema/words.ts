// The parts that the shapes of all nouns share. A shape documents a request or a response and marks its bytes. The
// engine decides whether a value is valid, so that the same mistake has the same error on every URL.
import { z } from 'zod'
import { limits } from '../../model/limits.ts'
import { publicStates } from '../../model/state.ts'
import { lastTime } from '../../model/time.ts'
import { cursorText, epoch, idPattern, leaseId, partitionPattern, tagKey, tagValue } from './bounds.ts'

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

/** For a response, which may get more fields in a later version. */
export function answer<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const schema = z.strictObject(shape)
  open.add(schema)
  return schema
}

export function isOpen(schema: z.core.$ZodType): boolean {
  return open.has(schema)
}

/** For a request, which is refused with an unknown field. */
export function request<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  return z.strictObject(shape)
}

// A schema has one name, so each kind of id has its own.
function idText() {
  return z
    .string()
    .regex(idPattern)
    .meta({ examples: ['{fp:7}:0190a000-0000-7000-8000-000000000000', '0190a000-0000-7000-8000-000000000000'] })
}

const idForms =
  'The full id or its bare uuid; answers have full ids, and the id of a new row must be full. In a path, percent-encoded or as it is.'

export const bytes = named('Bytes', z.string().meta({ contentEncoding: 'base64' }), 'Bytes in base64.')
export const executionId = named('ExecutionId', idText(), idForms)
export const flowId = named('FlowId', idText(), idForms)
export const waitpointId = named('WaitpointId', idText(), idForms)
export const json = named('Json', z.unknown(), 'Any JSON value.')
/** For a response with bytes. */
export const plainAnswer = json.optional().describe('The bytes as JSON, where their encoding is `json`.')
export const time = named('Time', z.int().min(0).max(lastTime), "Milliseconds since 1970, by the database's clock.")
export const milliseconds = z.int().min(0)
export const count = z.int().min(0)
// The units of `parseDuration`, in lower and upper case.
const units = ['milliseconds?', 'msecs?', 'ms', 'seconds?', 'secs?', 's', 'minutes?', 'mins?', 'm']
const longUnits = ['hours?', 'hrs?', 'h', 'days?', 'd', 'weeks?', 'w', 'years?', 'yrs?', 'y']
const anyUnit = [...units, ...longUnits]
  .join('|')
  .replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
const durationText = z
  .string()
  .max(100)
  .regex(new RegExp(`^[0-9]*\\.?[0-9]+ *(?:${anyUnit})?$`))

/** From `least` to `most` milliseconds. No pattern states the bounds of a text; the engine checks them. */
export function durationWithin(least: number, most: number) {
  return z
    .union([z.int().min(least).max(most), durationText])
    .describe(`From ${least} to ${most} milliseconds, or a string with one unit such as \`30s\`.`)
}

export const duration = named(
  'Duration',
  z.union([z.int().min(0).max(limits.durationMs), durationText]),
  'Milliseconds, or a string with one unit such as `30s`, `5m`, `2 days`; 100 years at most.',
)
export const partition = z.union([
  z.string().regex(new RegExp(`^\\{fp:${partitionPattern}\\}$`)),
  z
    .int()
    .min(0)
    .max(limits.partitionCount - 1),
])
export const tags = named('Tags', z.record(tagKey, tagValue), `At most ${limits.tagCount}.`)
export const publicState = named('PublicState', z.enum(publicStates))
export const cursor = named('Cursor', cursorText, '`nextCursor` of the previous page, with the same filter.')

export const nextCursor = cursor.nullable()

/** The lease that allows a worker's write. */
export const fence = { executionId, leaseId, leaseEpoch: epoch }

export const refused = named(
  'Refused',
  answer({ kind: z.literal('refused'), error: named('RefusedError', errorShape()) }),
  'A rejected item of a set, at its position.',
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

/** The items of a set, and its results in the same order. */
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
