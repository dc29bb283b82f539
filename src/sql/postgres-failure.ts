// The meaning of a failed connect, and the next step.
import { DatabaseError, sqlState, type DatabaseReason } from './errors.ts'
import { withoutPassword } from './without-password.ts'

/** The server, or a pooler in front of it, does not accept the settings that we send at the start. */
export function isStartupRefused(error: unknown): boolean {
  return sqlState(error) === '08P01' && /startup parameter/i.test((error as Error).message)
}

export function connectFailure(error: unknown, url: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const [reason, hint] = reasonOf(error)
  const message = error instanceof Error && error.message !== '' ? error.message : innerMessage(error)
  return new DatabaseError(reason, `Cannot connect to ${withoutPassword(url)}: ${message}`, hint, error)
}

/** An error of a connected client that is not a reply of the server. */
export function connectionLost(error: unknown, isRead: boolean): DatabaseError {
  const message = error instanceof Error ? error.message : String(error)
  return new DatabaseError(
    'connection_lost',
    `The connection to the database was lost: ${message}`,
    isRead
      ? 'The call was a read; try again.'
      : 'The outcome of the last call is unknown; repeat it with the same ids.',
    error,
  )
}

const byState: ReadonlyMap<string, [DatabaseReason, string]> = new Map([
  ['28P01', ['wrong_password', 'Check the user and password in the URL.']],
  ['28000', ['wrong_password', 'Check the user in the URL, and that pg_hba.conf allows it from this host.']],
  ['3D000', ['unknown_database', 'Create the database, or correct its name in the URL.']],
  ['42501', ['missing_right', 'Allow the role to connect: grant connect on database ... to ...;']],
  ['53300', ['unreachable', 'The server has no free connections: raise max_connections, or use smaller pools.']],
  ['57P01', ['unreachable', 'The server is stopping; try again in a moment.']],
  ['57P02', ['unreachable', 'The server crashed and is restarting; try again in a moment.']],
  ['57P03', ['unreachable', 'The server is starting or stopping; try again in a moment.']],
])

function reasonOf(error: unknown): [DatabaseReason, string] {
  const known = byState.get(sqlState(error) ?? '')
  if (known !== undefined) return known
  const message = error instanceof Error ? error.message : ''
  if (/client password must be a string/i.test(message)) return ['wrong_password', 'Add a password to the URL.']
  if (/does not support SSL/i.test(message)) return ['unreachable', 'Add sslmode=disable to the URL.']
  if (/certificate/i.test(message))
    return ['unreachable', "Add the server's certificate authority to the URL with sslrootcert."]
  return [
    'unreachable',
    'Check the host and port in the URL, and that the server is running and reachable from this host.',
  ]
}

// A host with two addresses fails with both errors inside one without a message.
function innerMessage(error: unknown): string {
  if (!(error instanceof AggregateError)) return String(error)
  return error.errors.map((inner: unknown) => (inner instanceof Error ? inner.message : String(inner))).join('; ')
}
