// Parses the query of a URL by a shape: numbers and booleans where the shape has them, an array for a field that may be
// repeated, and `tag[key]=a` as the field `key` of `tag`. Any other text stays text, and the engine refuses it.
import type { z } from 'zod'
import { EngineError } from '../model/errors.ts'
import { unwrapped } from './shape-walk.ts'

export function readQuery(shape: z.ZodObject, query: URLSearchParams): Record<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const name of new Set(query.keys())) {
    const [, outer, inner] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(name) ?? []
    if (outer === undefined)
      fields.set(
        name,
        readField(Object.hasOwn(shape.shape, name) ? shape.shape[name] : undefined, name, query.getAll(name)),
      )
    else fields.set(outer, { ...(fields.get(outer) as object), [inner!]: only(name, query.getAll(name)) })
  }
  return Object.fromEntries(fields)
}

function readField(schema: z.core.$ZodType | undefined, name: string, texts: readonly string[]): unknown {
  const type = schema === undefined ? undefined : unwrapped(schema)
  if (type?._zod.def.type === 'array') return texts
  const text = only(name, texts)
  if (type === undefined) return text
  const types = alternatives(type)
  if (types.has('number') && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function alternatives(schema: z.core.$ZodType): ReadonlySet<string> {
  const { def } = schema._zod
  if (def.type !== 'union') return new Set([def.type])
  return new Set((def as z.core.$ZodUnionDef).options.map((option) => option._zod.def.type))
}

function only(name: string, texts: readonly string[]): string {
  if (texts.length === 1) return texts[0]!
  throw new EngineError('invalid_input', `${name} is given ${texts.length} times; give it once`, { field: name })
}
