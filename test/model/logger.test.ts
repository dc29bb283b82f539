import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { createLogger, format, transports } from 'winston'
import { loggerOf, silent, type Logger } from '../../src/model/logger.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

function lines(): { readonly stream: Writable; readonly read: () => Record<string, unknown>[] } {
  const written: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(...chunk.toString().trim().split('\n'))
      done()
    },
  })
  return { stream, read: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test('pino keeps the message as its message and the fields as fields', () => {
  const { stream, read } = lines()
  const given: Logger = pino({ level: 'debug' }, stream)
  const logger = loggerOf(given)
  logger.warn('attempt 1 of 5 failed', { kind: 'mail', error: { message: 'no route' } })
  logger.debug('begins')
  expect(read()).toEqual([
    expect.objectContaining({
      level: 40,
      msg: 'attempt 1 of 5 failed',
      kind: 'mail',
      error: { message: 'no route' },
    }),
    expect.objectContaining({ level: 20, msg: 'begins' }),
  ])
})

test('a child of pino is recognized too', () => {
  const { stream, read } = lines()
  loggerOf(pino({}, stream).child({ service: 'shop' })).error('it failed', { kind: 'mail' })
  expect(read()).toEqual([expect.objectContaining({ level: 50, msg: 'it failed', kind: 'mail', service: 'shop' })])
})

test('winston keeps the message as its message and the fields as fields', () => {
  const { stream, read } = lines()
  const given: Logger = createLogger({ format: format.json(), transports: [new transports.Stream({ stream })] })
  loggerOf(given).warn('attempt 1 of 5 failed', { kind: 'mail', error: { message: 'no route' } })
  expect(read()).toEqual([
    { level: 'warn', message: 'attempt 1 of 5 failed', kind: 'mail', error: { message: 'no route' } },
  ])
})

test('console prints the message and the fields', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  loggerOf(console).warn('attempt 1 of 5 failed', { kind: 'mail' })
  expect(warn).toHaveBeenCalledExactlyOnceWith('attempt 1 of 5 failed', { kind: 'mail' })
})

test('the default prints warnings and errors, one line each, without their fields', () => {
  const printed: unknown[][] = []
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...args: unknown[]) => void printed.push([level, ...args]))
  }
  const logger = loggerOf(undefined)
  logger.debug('begins')
  logger.info('stops')
  logger.warn('two\n   lines and \u001B[31mred', { kind: 'mail' })
  logger.error('it failed', { kind: 'mail' })
  expect(printed).toEqual([
    ['warn', 'flowfabric warning: two lines and [31mred'],
    ['error', 'flowfabric error: it failed'],
  ])
})

test('false logs nothing, and a value that is no logger is refused', () => {
  expect(loggerOf(false)).toBe(silent)
  expect(() => loggerOf({ warn: () => {} })).toThrow(/logger is without debug/)
  expect(() => loggerOf('console')).toThrow(/logger/)
})

test('a logger that throws fails nothing, and the process warns of it once', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const broken = (): never => {
    throw new Error('disk full')
  }
  const logger = loggerOf({ debug: broken, info: broken, warn: broken, error: broken })
  logger.warn('it failed')
  logger.error('it failed', { kind: 'mail' })
  expect(warned).toHaveBeenCalledExactlyOnceWith('the logger failed: Error: disk full', { code: 'FLOWFABRIC_LOGGER' })
  expect(loggerOf(logger)).toBe(logger)
})
