// A valid input for a task, for the command that `dev` suggests: the task's own example, or one made from its schema.
import { z } from 'zod'
import type { Task } from '../worker/task.ts'

/** As JSON; empty if the task takes no input, null if no valid one is known. */
export async function sampleInput({ example, schemas, handler }: Task): Promise<string | null> {
  if (example !== undefined) return JSON.stringify(example) ?? null
  const { input } = schemas
  if (input === undefined) return handler.length < 2 ? '' : null
  if (input['~standard'].vendor !== 'zod') return null
  try {
    const schema = z.toJSONSchema(input as unknown as z.ZodType, { io: 'input', unrepresentable: 'any' })
    const sample = sampleOf(schema as JsonSchema, 0)
    const checked = await input['~standard'].validate(sample)
    return checked.issues === undefined ? (JSON.stringify(sample) ?? null) : null
  } catch {
    // A schema of another version of zod, or one without a JSON Schema.
    return null
  }
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly minLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

const mostDepth = 8

function sampleOf(schema: JsonSchema, depth: number): unknown {
  if (depth > mostDepth) throw new Error('the schema is too deep')
  const given = [schema.const, schema.examples?.[0], schema.default, schema.enum?.[0]].find(
    (value) => value !== undefined,
  )
  if (given !== undefined) return given
  if (schema.anyOf?.[0] !== undefined) return sampleOf(schema.anyOf[0], depth + 1)
  switch (typeof schema.type === 'object' ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {}, depth + 1)]),
      )
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}, depth + 1))
    case 'string':
      return textOf(schema)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    default:
      return null
  }
}

const texts: Readonly<Record<string, string>> = {
  email: 'ada@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  'date-time': '2030-01-01T00:00:00Z',
  date: '2030-01-01',
}

function textOf({ format = '', minLength = 0 }: JsonSchema): string {
  return texts[format] ?? 'text'.padEnd(minLength, '.')
}

function numberOf({ minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity }: JsonSchema): number {
  return Math.min(Math.max(1, minimum, exclusiveMinimum + 1), maximum)
}
