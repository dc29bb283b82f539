// Adapts the user's logger, and provides the default one.
import { refusal } from './errors.ts'
import { show } from './text.ts'

/**
 * Receives a sentence, and the same facts as fields. Pass `console`, pino or winston as they are: pino is recognised,
 * and receives its fields first.
 */
export interface Logger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

/** `false` logs nothing. */
export type LoggerOption = Logger | false

export type LogLevel = keyof Logger

export const logLevels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

const ignore = (): void => {}

/** Logs nothing, as `logger: false` does. */
export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/**
 * The default: warnings and errors, one line each on standard error. The sentence is complete, so its fields are not
 * printed. The methods of `console` are read at each line, because tools replace them.
 */
export const consoleLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: (message) => console.warn(`flowfabric warning: ${oneLine(message)}`),
  error: (message) => console.error(`flowfabric error: ${oneLine(message)}`),
}

/** Whether lines at `debug` are dropped, so that they need not be built. */
export function ignoresDebug(logger: Logger): boolean {
  return logger.debug === ignore
}

/** The logger of an option: checked, and adapted if its methods have another signature. */
export function loggerOf(given: unknown, fallback: Logger = consoleLogger): Logger {
  if (given === undefined) return fallback
  if (given === false) return silent
  const logger = checkLogger(given)
  if (given === silent || given === consoleLogger || guarded.has(logger)) return logger
  return guard(isPinoLike(logger) ? fromPino(logger) : logger)
}

const guarded = new WeakSet<Logger>()

/** A logger that throws must not fail the run or the duty that it is about. The process warns of it once. */
function guard(logger: Logger): Logger {
  let hasWarned = false
  const log = (level: LogLevel, message: string, fields?: object): void => {
    try {
      // Without fields it is called without: console would print `undefined`.
      if (fields === undefined) logger[level](message)
      else logger[level](message, fields)
    } catch (error) {
      if (!hasWarned) process.emitWarning(`the logger failed: ${String(error)}`, { code: 'FLOWFABRIC_LOGGER' })
      hasWarned = true
    }
  }
  const made: Logger = {
    debug: logger.debug === ignore ? ignore : (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
  }
  guarded.add(made)
  return made
}

function checkLogger(given: unknown): Logger {
  const allowed = 'an object with the methods debug, info, warn and error, or false'
  if (typeof given !== 'object' || given === null) throw refusal('invalid_input', 'logger', show(given), allowed)
  for (const level of logLevels) {
    const found: unknown = Reflect.get(given, level)
    if (typeof found !== 'function') throw refusal('invalid_input', 'logger', `without ${level}`, allowed)
  }
  return given as Logger
}

interface PinoLike {
  readonly [level: string]: (fields: object, message: string) => void
}

/** By its methods or by its mark; the loggers of Fastify and NestJS-pino have them too. */
function isPinoLike(logger: object): boolean {
  if (Symbol.for('pino.serializers') in logger) return true
  return ['bindings', 'child'].every((name) => typeof Reflect.get(logger, name) === 'function')
}

// Its methods use `this`, and its level may change at any time.
function fromPino(logger: object): Logger {
  const pino = logger as PinoLike
  const log = (level: LogLevel, message: string, fields: object = {}): void => pino[level]!(fields, message)
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
  }
}

/** Messages of errors have lines and may have escape sequences; a log has one line for each entry. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]\s*/g, ' ').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
}
