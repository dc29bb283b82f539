// Checks whether a worker can work at all. A key without the scope, or a schema that does not fit the code, would fail
// every claim for ever, so the process that starts the worker fails instead. A database or server that is unreachable
// for now is no reason to fail: the claims wait for it.
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError, type ErrorCode } from '../model/errors.ts'

// A database that does not reply within this time counts as unreachable for now.
const longestCheckMs = 5000

const hopeless: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'schema_missing',
  'schema_outdated',
  'schema_differs',
  'code_too_old',
  'database_right_missing',
  'engine_closed',
]

/** A server does not describe its database to its clients. An error of the database itself names the next step. */
const nextSteps: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Pass a valid API key as `token` to connect',
  forbidden: 'Pass an API key with the scope worker as `token` to connect',
  code_too_old: 'Upgrade flowfabric on the server',
  schema_missing: 'Run `flowfabric migrate` on the database of the server',
  schema_outdated: 'Run `flowfabric migrate` on the database of the server',
  schema_differs: 'Install the version of flowfabric on the server that made the schema',
  database_right_missing: 'Grant the rights to the database role of the server: flowfabric migrate --grant-to <role>',
}

/** Rejects when the worker can never work. `overHttp`: it works through a server. */
export async function checkStart(check: () => Promise<unknown>, overHttp: boolean): Promise<void> {
  const over = new AbortController()
  const checked = check()
    .catch((error: unknown) => {
      if (EngineError.is(error) && hopeless.includes(error.code)) throw cannotStart(error, overHttp)
    })
    .finally(() => over.abort())
  await Promise.race([checked, sleep(longestCheckMs, undefined, { signal: over.signal }).catch(() => checked)])
}

function cannotStart(error: EngineError, overHttp: boolean): EngineError {
  const next = overHttp ? nextSteps[error.code] : undefined
  const sentence = `the worker cannot start: ${error.message}`
  const whole = next === undefined ? sentence : `${sentence.replace(/\.$/, '')}. ${next}`
  return new EngineError(error.code, whole, error.details, { cause: error })
}
