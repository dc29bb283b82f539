// Shapes as JSON Schema, without the keywords that only a validator reads.
import { z } from 'zod'
import { isOpen, registry } from './schema/words.ts'

export type JsonObject = Record<string, unknown>

/** By name: shapes with a name of their own, and the `given` ones. Other schemas refer to these by name. */
export function schemasOf(given: ReadonlyMap<string, z.ZodType>): Readonly<Record<string, JsonObject>> {
  const all = z.registry<{ id: string }>()
  const names = new Map<z.core.$ZodType, string>()
  const aliases: [string, JsonObject][] = []
  for (const [id, schema] of [...[...registry].map(([id, { schema }]) => [id, schema] as const), ...given]) {
    const name = names.get(schema)
    if (name !== undefined) aliases.push([id, { $ref: place(name) }])
    else {
      names.set(schema, id)
      all.add(schema, { id })
    }
  }
  const { schemas } = z.toJSONSchema(all, { io: 'input', unrepresentable: 'any', uri: place, override })
  const own = Object.entries(schemas).map(([id, schema]) => [id, withDescription(id, schema as JsonObject)] as const)
  return Object.fromEntries([...own, ...aliases])
}

function place(id: string): string {
  return `#/components/schemas/${id}`
}

function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonObject }): void {
  if (isOpen(zodSchema)) delete jsonSchema['additionalProperties']
  delete jsonSchema['propertyNames']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
}

function withDescription(id: string, { $schema: _schema, $id: _id, ...schema }: JsonObject): JsonObject {
  const description = registry.get(id)?.description
  return description === undefined ? schema : { description, ...schema }
}
