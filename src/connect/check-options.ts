import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import { checkSchema } from '../sql/qualify.ts'
import { withoutPassword } from '../sql/without-password.ts'
import type { ConnectOptions } from './connect.ts'
import type { Target } from './url.ts'

/** Refuses what does not fit, before anything is opened; an option that is undefined counts as not given. */
export function checkOptions(options: ConnectOptions, target: Target): void {
  const { migrate = true, schema = 'flowfabric', poolSize = 4, prepare = true, listenUrl, logger } = options
  if (target.kind === 'embedded') refusePostgresOptions(options)
  if (![true, 'check', false].includes(migrate)) throw refuse('migrate', migrate, `true, 'check' or false`)
  if (!Number.isInteger(poolSize) || poolSize < 1) throw refuse('poolSize', poolSize, 'a whole number from 1')
  if (typeof prepare !== 'boolean') throw refuse('prepare', prepare, 'true or false')
  if (listenUrl !== undefined && !isPostgresUrl(listenUrl)) throw refuse('listenUrl', listenUrl, 'a postgres:// URL')
  if (logger !== undefined) checkLogger(logger)
  if (typeof schema !== 'string') throw refuse('schema', schema, 'a text')
  try {
    checkSchema(schema)
  } catch (cause) {
    throw new EngineError('invalid_input', (cause as Error).message, { field: 'schema' }, { cause })
  }
}

function refusePostgresOptions(options: ConnectOptions): void {
  for (const field of ['listenUrl', 'prepare', 'poolSize'] as const) {
    if (options[field] === undefined) continue
    const message = `${field} is for postgres:// alone; leave it out, the embedded database has one connection of its own`
    throw new EngineError('invalid_input', message, { field })
  }
}

function isPostgresUrl(value: unknown): boolean {
  return typeof value === 'string' && /^postgres(ql)?:\/\//.test(value)
}

export function checkLogger(logger: unknown): void {
  const allowed = 'an object with the methods debug, info, warn and error'
  if (typeof logger !== 'object' || logger === null) throw refuse('logger', logger, allowed)
  for (const method of ['debug', 'info', 'warn', 'error']) {
    const found: unknown = Reflect.get(logger, method)
    if (typeof found !== 'function') throw refusal('invalid_input', 'logger', `without ${method}`, allowed)
  }
}

function refuse(field: string, value: unknown, allowed: string): EngineError {
  const found = show(typeof value === 'string' ? withoutPassword(value) : value)
  return refusal('invalid_input', field, found, allowed)
}
