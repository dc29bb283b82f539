// Whether the schema fits this code.
import { DatabaseError, sqlState } from '../../sql/errors.ts'
import { pendingIn, readLedger } from '../../sql/ledger.ts'
import { migrations } from '../../sql/migrations/all.ts'
import { finding, type Finding } from './finding.ts'
import { readOnly, type CheckDeps } from './read-only.ts'

/** Whether further checks are possible, and the findings. */
export async function findMigrations(
  deps: CheckDeps,
  codeVersion: string,
): Promise<{ readonly isThere: boolean; readonly findings: readonly Finding[] }> {
  const { schema } = deps.sql
  const next = 'Run flowfabric migrate.'
  let ledger
  try {
    ledger = await readOnly(deps, readLedger)
  } catch (error) {
    return { isThere: false, findings: [unreadable(schema, error)] }
  }
  if (ledger === null) {
    return {
      isThere: false,
      findings: [finding('schema', 'trouble', `The schema ${schema} is not installed.`, { next })],
    }
  }
  try {
    const pending = pendingIn(ledger, migrations, schema, codeVersion)
    if (pending.length === 0) {
      const sentence = `Schema ${schema} is up to date with flowfabric ${codeVersion}.`
      return { isThere: true, findings: [finding('schema', 'fine', sentence)] }
    }
    const names = pending.map((migration) => `${migration.version} (${migration.name})`)
    const sentence = `Schema ${schema} lacks ${pending.length === 1 ? 'a migration' : `${pending.length} migrations`}.`
    return { isThere: false, findings: [finding('schema', 'trouble', sentence, { next, subjects: names })] }
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const sentence = error.message.slice(0, -error.hint.length).trim()
    return { isThere: false, findings: [finding('schema', 'trouble', sentence, { next: error.hint })] }
  }
}

// No other check is possible then, so it is a problem.
function unreadable(schema: string, error: unknown): Finding {
  const state = sqlState(error)
  if (state === '42501') {
    const sentence = `This role lacks the permission to read schema ${schema}: ${(error as Error).message}.`
    return finding('schema', 'trouble', sentence, { next: 'Run doctor as the role that owns it.' })
  }
  if (state !== '57014') throw error
  const next = 'Raise the timeout, or check again when the database is less busy.'
  return finding('schema', 'trouble', `It took too long to readOnly into schema ${schema}.`, { next })
}
