// Whether the schema is the one that this code works with.
import { DatabaseError } from '../../sql/errors.ts'
import { pendingIn, readLedger } from '../../sql/ledger.ts'
import { migrations } from '../../sql/migrations/all.ts'
import { finding, type Finding } from './finding.ts'
import { look, type Looking } from './look.ts'

/** Whether there is anything further to look at, and what was found. */
export async function findMigrations(
  looking: Looking,
  codeVersion: string,
): Promise<{ readonly isThere: boolean; readonly findings: readonly Finding[] }> {
  const { schema } = looking.sql
  const ledger = await look(looking, readLedger)
  const next = 'Run flowfabric migrate.'
  if (ledger === null) {
    return {
      isThere: false,
      findings: [finding('schema', 'trouble', `There is no schema ${schema} of ours.`, { next })],
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
