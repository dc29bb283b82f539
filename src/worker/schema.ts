// Standard Schema (https://standardschema.dev), as far as we need it: zod, valibot, arktype and others implement it.
import { EngineError, refusal, type ErrorCode } from '../model/errors.ts'
import { show } from '../model/text.ts'

export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Returns the output of the schema. `what` names the value in an error. */
export async function checkBy<Output>(
  schema: Schema<unknown, Output> | undefined,
  value: unknown,
  what: string,
  code: ErrorCode = 'invalid_input',
): Promise<Output> {
  if (schema === undefined) return value as Output
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(({ message, path }) => ({ message, path: pathOf(path) }))
  const problems = issues.map(({ message, path }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
  throw new EngineError(code, `${what} is refused by its schema: ${problems}`, { what, issues })
}

function pathOf(path: Issue['path']): string {
  return (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
}

export function refuseNonSchema(field: string, schema: unknown): void {
  if (schema === undefined || isSchema(schema)) return
  throw refusal('invalid_input', field, show(schema), 'a Standard Schema, such as those of zod, valibot or arktype')
}

function isSchema(value: unknown): value is Schema {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isObject) return false
  const standard: unknown = Reflect.get(value, '~standard')
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}
