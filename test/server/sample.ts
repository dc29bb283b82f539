// A request that fits its schema, and values that fit no schema.
export type Schema = Readonly<Record<string, any>>

const ids: Readonly<Record<string, string>> = {
  ExecutionId: '{fp:7}:0190a000-0000-7000-8000-000000000001',
  FlowId: '{fp:7}:0190a000-0000-7000-8000-000000000002',
  WaitpointId: '{fp:7}:0190a000-0000-7000-8000-000000000003',
}

/** With every field that the schema knows, also the optional ones. */
export function sampleOf(schema: Schema, named: Readonly<Record<string, Schema>>, depth = 0): any {
  if (schema['$ref'] !== undefined) {
    const name = (schema['$ref'] as string).split('/').at(-1)!
    return ids[name] ?? sampleOf(named[name]!, named, depth + 1)
  }
  if (schema['const'] !== undefined) return schema['const']
  if (schema['enum'] !== undefined) return schema['enum'][0]
  const options = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined
  if (options !== undefined) return sampleOf(options[0]!, named, depth + 1)
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  if (type === 'array') return depth > 6 ? [] : [sampleOf(schema['items'] as Schema, named, depth + 1)]
  if (type === 'object') return objectOf(schema, named, depth)
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return false
  return schema['contentEncoding'] === 'base64' ? 'e30=' : 'text'
}

function objectOf(schema: Schema, named: Readonly<Record<string, Schema>>, depth: number): Record<string, unknown> {
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  const kept = depth > 4 ? fields.filter(([name]) => (schema['required'] ?? []).includes(name)) : fields
  return Object.fromEntries(kept.map(([name, field]) => [name, sampleOf(field, named, depth + 1)]))
}

export const junk: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  '',
  'x',
  '\u0000',
  '\ud800',
  'é'.repeat(3000),
  '{fp:7}:0190a000-0000-7000-8000-00000000000f',
  [],
  [null],
  [[]],
  {},
  { unheard: 1 },
  { constructor: 1 },
]

export const brokenBodies: readonly string[] = [
  '{',
  '{"a": 01}',
  '[]',
  'null',
  '7',
  '"text"',
  '{"__proto__": {"kind": "a"}}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  '\u0000',
  '{"kind": "\\ud800"}',
]
