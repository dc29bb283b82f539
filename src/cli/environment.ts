// The environment variables of the CLI, besides the usual ones of terminals and shells. Secrets are read here and not
// from arguments, which every user who lists processes can read.
import type { ConnectOptions } from '../connect/connect.ts'
import { refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Each with its description in the help. */
export const environmentVariables = {
  FLOWFABRIC_URL: 'URL of the database or server',
  FLOWFABRIC_TOKEN: 'API key for a server',
  FLOWFABRIC_LISTEN_URL: 'direct Postgres URL for notifications, if FLOWFABRIC_URL is a pooler',
  FLOWFABRIC_POOL_SIZE: 'Postgres connections for work, not counting the one that listens (default: 4)',
  FLOWFABRIC_PUBLIC_URL: 'URL at which people reach a server through your proxy; same as --public-url',
  FLOWFABRIC_WRAPPING_SECRET: 'wraps signing keys before they are stored; set the same value in every process',
  FLOWFABRIC_SIGNING_SECRET: 'secret of the key that signing-key rotate --kid creates',
} as const

export function fromEnvironment(env: Environment, name: keyof typeof environmentVariables): string | undefined {
  const value = env[name]
  return value === '' ? undefined : value
}

/** The options for Postgres. */
export function postgresOptions(env: Environment): ConnectOptions {
  const listenUrl = fromEnvironment(env, 'FLOWFABRIC_LISTEN_URL')
  const poolSize = fromEnvironment(env, 'FLOWFABRIC_POOL_SIZE')
  return {
    ...(listenUrl !== undefined && { listenUrl }),
    ...(poolSize !== undefined && { poolSize: wholeNumberOf('FLOWFABRIC_POOL_SIZE', poolSize) }),
    ...signingOptions(env),
  }
}

export function signingOptions(env: Environment): ConnectOptions {
  const wrappingSecret = fromEnvironment(env, 'FLOWFABRIC_WRAPPING_SECRET')
  return wrappingSecret === undefined ? {} : { signing: { wrappingSecret } }
}

function wholeNumberOf(name: string, value: string): number {
  if (/^\d{1,4}$/.test(value) && Number(value) > 0) return Number(value)
  throw refusal('invalid_input', name, show(value), 'a whole number from 1')
}
