// The log lines of a long-running command, on standard error.
import type { Logger } from '../model/logger.ts'
import type { Cli } from './cli.ts'
import { harmless } from './text.ts'

export type Level = 'warn' | 'error'

export type LineLogger = Logger

export function lineLogger(cli: Cli): LineLogger {
  const say = (level: Level, message: string, fields: object = {}): void => {
    if (cli.json) return cli.err.line(JSON.stringify({ level, message, ...fields }))
    const { colours } = cli.err
    const word = level === 'error' ? colours.red('error:') : colours.yellow('warning:')
    cli.err.line(`${word} ${harmless(message)}`)
  }
  return {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => say('warn', message, fields),
    error: (message, fields) => say('error', message, fields),
  }
}

/** Resolves at Ctrl-C. */
export function untilInterrupted(cli: Cli): Promise<void> {
  const signal = cli.host.interruption?.()
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    else signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}
