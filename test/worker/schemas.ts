// Small schemas of the kind that libraries make: the tests check that FlowFabric calls them as the standard requires.
import type { Schema } from '../../src/worker/schema.ts'

export function schema<Output>(
  check: (value: unknown) => Output | undefined,
  message: string,
  path: readonly PropertyKey[] = [],
): Schema<Output, Output> {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async (value) => {
        const output = check(value)
        return output === undefined ? { issues: [{ message, path }] } : { value: output }
      },
    },
  }
}

export const text = schema((value) => (typeof value === 'string' ? value : undefined), 'expected a text')
export const count = schema((value) => (Number.isInteger(value) ? (value as number) : undefined), 'expected a count')

/** Takes a text and returns its length. */
export const length: Schema<string, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'string' ? { value: value.length } : { issues: [{ message: 'expected a text' }] },
  },
}

export function fields<Output extends object>(names: readonly (string & keyof Output)[]): Schema<Output, Output> {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        const missing = names.filter((name) => typeof value !== 'object' || value === null || !(name in value))
        return missing.length === 0
          ? { value: value as Output }
          : { issues: missing.map((name) => ({ message: 'missing', path: [{ key: name }] })) }
      },
    },
  }
}
