// What a long-running command has to say besides its output: a line each, on standard error.
import type { Cli } from './cli.ts'
import { harmless } from './text.ts'

export type Level = 'warn' | 'error'

export interface LineLogger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export function lineLogger(cli: Cli): LineLogger {
  const say = (level: Level, message: string): void => {
    if (cli.json) return cli.err.line(JSON.stringify({ level, message }))
    const { colours } = cli.err
    const word = level === 'error' ? colours.red('error:') : colours.yellow('warning:')
    cli.err.line(`${word} ${harmless(message)}`)
  }
  return {
    debug: () => {},
    info: () => {},
    warn: (message) => say('warn', message),
    error: (message) => say('error', message),
  }
}

/** Resolves when the user has had enough. */
export function untilInterrupted(cli: Cli): Promise<void> {
  const signal = cli.surroundings.interruption?.()
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    else signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}
