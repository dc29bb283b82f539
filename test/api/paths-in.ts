// The places of bytes and errors in an answer, by its shape.
import type { z } from 'zod'
import { bytes, engineError } from '../../src/server/schema/words.ts'

type Schema = z.core.$ZodType

export function bytesIn(answer: Schema | null): readonly string[] {
  return pathsTo(answer, bytes)
}

export function errorsIn(answer: Schema | null): readonly string[] {
  return pathsTo(answer, engineError)
}

function pathsTo(answer: Schema | null, wanted: Schema): readonly string[] {
  const found = new Set<string>()
  const visit = (schema: Schema, at: string, seen: readonly Schema[]): void => {
    if (schema === wanted) found.add(at)
    if (seen.includes(schema)) return
    const inside = [...seen, schema]
    for (const [name, part] of parts(schema)) visit(part, [at, name].filter((each) => each !== '').join('.'), inside)
  }
  if (answer !== null) visit(answer, '', [])
  return [...found].toSorted()
}

function parts({ _zod: { def } }: Schema): readonly (readonly [string, Schema])[] {
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return [['', (def as z.core.$ZodOptionalDef).innerType]]
    case 'lazy':
      return [['', (def as z.core.$ZodLazyDef).getter()]]
    case 'array':
      return [['*', (def as z.core.$ZodArrayDef).element]]
    case 'union':
      return (def as z.core.$ZodUnionDef).options.map((option) => ['', option] as const)
    case 'object':
      return Object.entries((def as z.core.$ZodObjectDef).shape)
    default:
      return []
  }
}
