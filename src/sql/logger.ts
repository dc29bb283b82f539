/** The same as the one of the model, which the user's logger is made to fit; nothing of ours is imported here. */
export interface Logger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

const ignore = (): void => {}

export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
