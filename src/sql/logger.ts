/**
 * The same as the logger of the model, which the user's logger is adapted to. Declared again, because this folder
 * imports no other.
 */
export interface Logger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

const ignore = (): void => {}

export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
