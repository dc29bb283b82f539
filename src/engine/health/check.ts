// Checks the server, the schema and the work in it: read only, each statement within a time limit, nothing counted to
// its end. A finding that reports a problem names the next step.
import { parseDuration, type Duration } from '../../model/duration.ts'
import { refusal } from '../../model/errors.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { invariants } from '../invariants.ts'
import type { Finding } from './finding.ts'
import { orUnknown, type CheckDeps } from './read-only.ts'
import { findLogBlocks } from './log-blocks.ts'
import { findMigrations } from './migrations.ts'
import { findBloat, findServer, findTransactions } from './server.ts'
import { findClockSteps, findDuties, findSetAside, findStuckLeases } from './upkeep.ts'
import { findBroken, findStranded, findUnserved } from './work.ts'

export interface CheckHealthRequest {
  /** The limit of one statement; defaults to 2 s, and to 30 s for a deep check. */
  readonly timeout?: Duration
  /** Checks every invariant over all rows: for a quiet hour. */
  readonly deep?: boolean
  /** Called after each check, with the number of checks. */
  readonly onLooked?: (check: string, total: number) => void
}

export interface HealthReport {
  /** No finding is a problem. */
  readonly isHealthy: boolean
  readonly findings: readonly Finding[]
}

const checks: readonly (readonly [string, (deps: CheckDeps) => Promise<Finding[]>])[] = [
  ['duties', findDuties],
  ['clock steps', findClockSteps],
  ['set aside', findSetAside],
  ['leases', findStuckLeases],
  ['workers', findUnserved],
  ['stranded', findStranded],
  ['event log', findLogBlocks],
  ['transactions', findTransactions],
  ['bloat', findBloat],
]

export async function checkHealth(
  sql: Sql,
  codeVersion: string,
  request: CheckHealthRequest = {},
): Promise<HealthReport> {
  refuseUnknownFields('health.check', request, ['timeout', 'deep', 'onLooked'])
  const { deep = false, onLooked = () => {} } = request
  const timeoutMs = parseDuration('timeout', request.timeout ?? (deep ? '30s' : '2s'))
  if (timeoutMs === 0) throw refusal('invalid_input', 'timeout', '0', 'longer than 0 ms')
  const deps = { sql, timeoutMs }
  const total = checks.length + 2 + (deep ? invariants.length : 0)
  const findings: Finding[] = [...(await orUnknown('server', () => findServer(deps)))]
  onLooked('server', total)
  const { isThere, findings: ofSchema } = await findMigrations(deps, codeVersion)
  findings.push(...ofSchema)
  onLooked('schema', total)
  for (const [check, find] of isThere ? checks : []) {
    findings.push(...(await orUnknown(check, () => find(deps))))
    onLooked(check, total)
  }
  if (isThere && deep) findings.push(...(await findBroken(deps, (check) => onLooked(check, total))))
  return { isHealthy: findings.every((each) => each.verdict !== 'trouble'), findings }
}
