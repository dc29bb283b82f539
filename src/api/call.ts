// Between a call of the engine and the fields of a request. Both ends use it, in opposite directions.
import { EngineError, refusal } from '../model/errors.ts'
import { parseEdgeId, parseExecutionId, parseFlowId, parseWaitpointId } from '../model/id.ts'
import { checkTagKey } from '../model/tag.ts'
import { show } from '../model/text.ts'
import { pathFields, type Route } from './route.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The fields that a call's arguments make; what is undefined is left out. */
export function fieldsOf({ args }: Route, given: readonly unknown[]): Fields {
  const fields: Record<string, unknown> = {}
  for (const [place, name] of args.entries()) {
    if (name === 'request') Object.assign(fields, given[place])
    else fields[name] = given[place]
  }
  return fields
}

/** The arguments that a request's fields make. */
export function argsOf({ args }: Route, fields: Fields): unknown[] {
  const named = args.filter((name) => name !== 'request')
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !named.includes(name)))
  return args.map((name) => (name === 'request' ? rest : fields[name]))
}

/** The path with the fields that stand in it, and the others. */
export function pathOf({ path, operationId }: Route, fields: Fields): { readonly path: string; readonly rest: Fields } {
  const rest: Record<string, unknown> = { ...fields }
  let filled = path
  for (const name of pathFields(path)) {
    // A function, because a text may hold what `replace` takes for a pattern.
    const segment = segmentOf(operationId, name, fields[name])
    filled = filled.replace(`{${name}}`, () => segment)
    delete rest[name]
  }
  return { path: filled, rest }
}

// Dots alone would lead elsewhere, also when they are encoded; half a character has no encoding.
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

/** What the engine would say of a value that cannot be sent to it. */
const parsers: Readonly<Record<string, (value: unknown) => unknown>> = {
  executionId: parseExecutionId,
  flowId: parseFlowId,
  waitpointId: parseWaitpointId,
  edgeId: parseEdgeId,
  key: checkTagKey,
}
