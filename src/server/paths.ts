// Paths of the API, as the router writes them, and the methods of each.
import { operations } from '../api/routes.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'

export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

const patterns = operations.map(({ route: { method, path } }) => ({
  method,
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Paths without ids, such as `/v1/executions/cancel`. Their last word is where other paths have an id, but is none. */
export const wordPaths: readonly string[] = [
  ...new Set(operations.map(({ route }) => route.path).filter((path) => !path.includes('{'))),
]

/** In alphabetical order; empty when no route has this path. */
function methodsAt(path: string): readonly string[] {
  const isWord = wordPaths.includes(path)
  const matching = patterns.filter((each) => (isWord ? each.path === path : each.pattern.test(path)))
  const found = matching.map(({ method }) => method as string)
  return [...new Set(found.includes('GET') ? [...found, 'HEAD'] : found)].toSorted()
}

/** Empty, or a path that begins with a slash and ends without one. */
export function checkBasePath(basePath: unknown): string {
  if (typeof basePath === 'string' && /^(\/[\w.~-]+)*$/.test(basePath)) return basePath
  throw refusal('invalid_input', 'basePath', show(basePath), 'a path such as /api/flowfabric')
}

interface RequestedPath {
  readonly method: string
  readonly path: string
}

export function unknownRoute({ method, path }: RequestedPath, basePath: string): EngineError {
  const allow = path.startsWith(basePath) ? methodsAt(path.slice(basePath.length)) : []
  if (allow.length === 0) {
    return new EngineError('route_not_found', `no route is at ${path}; ${basePath}/openapi.json lists the routes`, {
      path,
    })
  }
  const sentence = `${path} takes ${allow.join(', ')}, and not ${method}; ask by one of those`
  return new EngineError('method_not_allowed', sentence, { allow })
}
