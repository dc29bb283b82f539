// Shapes as JSON Schema, without what only a validator reads.
import { z } from 'zod'
import { isOpen, registry } from '../api/schema/words.ts'

export type Json = Record<string, unknown>

/** By name: those with a name of their own, and those given. What has a name is referred to by the others. */
export function schemasOf(given: ReadonlyMap<string, z.ZodType>): Readonly<Record<string, Json>> {
  const all = z.registry<{ id: string }>()
  const names = new Map<z.core.$ZodType, string>()
  const aliases: [string, Json][] = []
  for (const [id, schema] of [...[...registry].map(([id, { schema }]) => [id, schema] as const), ...given]) {
    const name = names.get(schema)
    if (name !== undefined) aliases.push([id, { $ref: place(name) }])
    else {
      names.set(schema, id)
      all.add(schema, { id })
    }
  }
  const { schemas } = z.toJSONSchema(all, { io: 'input', unrepresentable: 'any', uri: place, override })
  const own = Object.entries(schemas).map(([id, schema]) => [id, withDescription(id, schema as Json)] as const)
  return Object.fromEntries([...own, ...aliases])
}

function place(id: string): string {
  return `#/components/schemas/${id}`
}

function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void {
  if (isOpen(zodSchema)) delete jsonSchema['additionalProperties']
  delete jsonSchema['propertyNames']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
}

function withDescription(id: string, { $schema: _schema, $id: _id, ...schema }: Json): Json {
  const description = registry.get(id)?.description
  return description === undefined ? schema : { description, ...schema }
}
