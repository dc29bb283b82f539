/** Satisfied by `console`, pino and winston. */
export interface Logger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

const ignore = (): void => {}

export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
