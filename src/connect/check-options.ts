import { checkCodec } from '../model/codec.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { loggerOf } from '../model/logger.ts'
import { show } from '../model/text.ts'
import { checkSchema } from '../sql/qualify.ts'
import { withoutPassword } from '../sql/without-password.ts'
import type { ConnectOptions } from './connect.ts'
import type { ConnectTarget } from './url.ts'

/** Refuses invalid options before anything is opened. An option that is undefined counts as left out. */
export function checkOptions(options: ConnectOptions, target: Exclude<ConnectTarget, { kind: 'server' }>): void {
  const {
    migrate = true,
    grantTo,
    schema = 'flowfabric',
    poolSize = 4,
    prepare = true,
    share = true,
    listenUrl,
    timeout,
    logger,
    codec,
  } = options
  refuseServerOptions(options)
  if (target.kind === 'embedded') refusePostgresOptions(options)
  else if (options.share !== undefined) {
    throw new EngineError('invalid_input', 'share is for file: alone; leave it out, a server is shared always', {
      field: 'share',
    })
  }
  if (typeof share !== 'boolean') throw refuse('share', share, 'true or false')
  if (![true, 'check', false].includes(migrate)) throw refuse('migrate', migrate, `true, 'check' or false`)
  if (grantTo !== undefined && (typeof grantTo !== 'string' || grantTo === '' || grantTo.includes('\0'))) {
    throw refuse('grantTo', grantTo, 'the name of a database role')
  }
  if (!Number.isInteger(poolSize) || poolSize < 1) throw refuse('poolSize', poolSize, 'a whole number from 1')
  if (typeof prepare !== 'boolean') throw refuse('prepare', prepare, 'true or false')
  if (listenUrl !== undefined && !isPostgresUrl(listenUrl)) throw refuse('listenUrl', listenUrl, 'a postgres:// URL')
  if (timeout !== undefined) checkTimeout(timeout)
  void loggerOf(logger)
  if (codec !== undefined) checkCodec(codec)
  if (typeof schema !== 'string') throw refuse('schema', schema, 'a text')
  try {
    checkSchema(schema)
  } catch (cause) {
    throw new EngineError('invalid_input', (cause as Error).message, { field: 'schema' }, { cause })
  }
}

function refusePostgresOptions(options: ConnectOptions): void {
  for (const field of ['grantTo', 'listenUrl', 'prepare', 'poolSize', 'timeout'] as const) {
    if (options[field] === undefined) continue
    const urls = field === 'timeout' ? 'postgres:// and http://' : 'postgres:// alone'
    const message = `${field} is for ${urls}; leave it out, the embedded database has one connection and one role`
    throw new EngineError('invalid_input', message, { field })
  }
}

function refuseServerOptions(options: ConnectOptions): void {
  for (const field of ['token', 'retryFor'] as const) {
    if (options[field] === undefined) continue
    throw new EngineError('invalid_input', `${field} is for http:// and https:// alone; leave it out`, { field })
  }
}

/** Refuses the options that only the server can set. */
export function refuseDatabaseOptions(options: ConnectOptions): void {
  for (const field of [
    'migrate',
    'grantTo',
    'schema',
    'listenUrl',
    'prepare',
    'poolSize',
    'share',
    'signing',
  ] as const) {
    if (options[field] === undefined) continue
    const message = `${field} is an option of the process that opens the database, here the server; leave it out`
    throw new EngineError('invalid_input', message, { field })
  }
}

/** In milliseconds. */
export function checkTimeout(timeout: Duration): number {
  const ms = parseDuration('timeout', timeout)
  if (ms >= limits.answerTimeoutMinMs && ms <= limits.answerTimeoutMaxMs) return ms
  throw refuse('timeout', timeout, 'a duration from 100 ms to a day')
}

function isPostgresUrl(value: unknown): boolean {
  return typeof value === 'string' && /^postgres(ql)?:\/\//.test(value)
}

function refuse(field: string, value: unknown, allowed: string): EngineError {
  const found = show(typeof value === 'string' ? withoutPassword(value) : value)
  return refusal('invalid_input', field, found, allowed)
}
