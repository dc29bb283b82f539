// Converts a value by its shape: where the shape has bytes, a text in base64 becomes bytes. Any other value stays as it
// is, and the engine refuses it.
import type { z } from 'zod'
import { bytes } from './schema/words.ts'
import { parseBytes } from '../api/wire.ts'
import { EngineError } from '../model/errors.ts'

type ZodSchema = z.core.$ZodType

export function decodeBytes(schema: ZodSchema, value: unknown, at = '', plain?: string): unknown {
  if (value === undefined || value === null || !holdsBytes(schema)) return value
  const inner = unwrapped(schema)
  if (inner === bytes) return typeof value === 'string' ? decoded(value, at, plain) : value
  const { def } = inner._zod
  if (def.type === 'array' && Array.isArray(value)) {
    const { element } = def as z.core.$ZodArrayDef
    return value.map((item, place) => decodeBytes(element, item, `${at}[${place}]`))
  }
  if (def.type !== 'object' || typeof value !== 'object') return value
  const { shape } = def as z.core.$ZodObjectDef
  return Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => [
      name,
      Object.hasOwn(shape, name)
        ? decodeBytes(shape[name]!, field, at === '' ? name : `${at}.${name}`, plainOf(shape, name))
        : field,
    ]),
  )
}

/** The field that accepts plain JSON in place of these bytes. */
function plainOf(shape: Readonly<Record<string, ZodSchema>>, name: string): string | undefined {
  if (name !== 'payload') return undefined
  return ['input', 'value'].find((field) => Object.hasOwn(shape, field))
}

/** Without its optional, nullable and lazy wrappers. */
export function unwrapped(schema: ZodSchema): ZodSchema {
  const { def } = schema._zod
  if (def.type === 'optional' || def.type === 'nullable') return unwrapped((def as z.core.$ZodOptionalDef).innerType)
  return def.type === 'lazy' ? unwrapped((def as z.core.$ZodLazyDef).getter()) : schema
}

const known = new WeakMap<ZodSchema, boolean>()

function holdsBytes(schema: ZodSchema): boolean {
  const inner = unwrapped(schema)
  const before = known.get(inner)
  if (before !== undefined) return before
  const found = reachesBytes(inner, new Set())
  known.set(inner, found)
  return found
}

function reachesBytes(schema: ZodSchema, seen: Set<ZodSchema>): boolean {
  const inner = unwrapped(schema)
  if (inner === bytes) return true
  if (seen.has(inner)) return false
  seen.add(inner)
  return parts(inner).some((part) => reachesBytes(part, seen))
}

function parts({ _zod: { def } }: ZodSchema): readonly ZodSchema[] {
  if (def.type === 'array') return [(def as z.core.$ZodArrayDef).element]
  return def.type === 'object' ? Object.values((def as z.core.$ZodObjectDef).shape) : []
}

// An item of a set is refused in its place, by the engine, which accepts no text for bytes.
function decoded(text: string, at: string, plain: string | undefined): Uint8Array | string {
  const found = parseBytes(text)
  if (found !== null) return found
  if (at.startsWith('items[')) return text
  const next = plain === undefined ? '' : `, or JSON as ${plain}`
  throw new EngineError('invalid_input', `${at} is not base64; send bytes in base64, padded${next}`, { field: at })
}
