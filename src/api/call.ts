// Converts between a call of the engine and the fields of a request. The client and the server use it, in opposite
// directions.
import { EngineError, refusal } from '../model/errors.ts'
import { parseEdgeId, parseExecutionId, parseFlowId, parseWaitpointId } from '../model/id.ts'
import { checkTagKey } from '../model/tag.ts'
import { show } from '../model/text.ts'
import { pathFields, type Route } from './route.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The fields of a call's arguments; undefined ones are left out. */
export function fieldsOf({ args }: Route, given: readonly unknown[]): Fields {
  const fields: Record<string, unknown> = {}
  for (const [place, name] of args.entries()) {
    if (name === 'request') Object.assign(fields, given[place])
    else fields[name] = given[place]
  }
  return fields
}

/** The arguments from the fields of a request. */
export function argsOf({ args }: Route, fields: Fields): unknown[] {
  const named = args.filter((name) => name !== 'request')
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !named.includes(name)))
  return args.map((name) => (name === 'request' ? rest : fields[name]))
}

/** The path with its fields filled in, and the other fields. */
export function pathOf({ path, operationId }: Route, fields: Fields): { readonly path: string; readonly rest: Fields } {
  const rest: Record<string, unknown> = { ...fields }
  let filled = path
  for (const name of pathFields(path)) {
    // A function, because a text may contain patterns of `replace`.
    const segment = segmentOf(operationId, name, fields[name])
    filled = filled.replace(`{${name}}`, () => segment)
    delete rest[name]
  }
  return { path: filled, rest }
}

// A segment of dots would change the path, also when it is encoded; half a surrogate pair has no encoding.
function segmentOf(operationId: string, name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    parsers[name]?.(value)
    throw new EngineError('invalid_input', `${operationId} needs ${name}, a non-empty string`, { field: name })
  }
  try {
    if (value !== '.' && value !== '..') return encodeURIComponent(value)
  } catch {}
  throw refusal('invalid_input', name, show(value), 'a string that is valid in a URL path')
}

/** The engine's checks, for a value that cannot be sent to it. */
const parsers: Readonly<Record<string, (value: unknown) => unknown>> = {
  executionId: parseExecutionId,
  flowId: parseFlowId,
  waitpointId: parseWaitpointId,
  edgeId: parseEdgeId,
  key: checkTagKey,
}
