// What a worker serves: kinds, versions and capabilities, checked in the same way for a claim, a grant and the claim by
// a grant.
import { EngineError } from '../../model/errors.ts'
import { listOf } from '../../model/field-kinds.ts'
import type { ExecutionId } from '../../model/id.ts'
import { capabilities, kind, version } from '../../model/named-fields.ts'
import { mismatchOf, type Served } from '../../model/served.ts'

export const servedFields = {
  /** Left out: any kind. */
  kinds: listOf(kind, { each: 'kind', min: 1, allowed: 'an array of one or more, or omitted' })
    .optional()
    .describe('Omitted: any kind.'),
  /** Versions that this worker serves, besides executions without one. Left out: only those. */
  versions: listOf(version, { each: 'version', allowed: 'an array, or omitted' })
    .default([])
    .describe('Executions without required capabilities always match. Omitted: only those.'),
  /** Left out: none, so that it serves only executions that need none. */
  capabilities: capabilities.default([]).describe('Omitted: none.'),
}

/** Parameters or columns with what a worker serves. */
interface ServedSql {
  readonly anyKind: string
  readonly kinds: string
  readonly versions: string
  readonly capabilities: string
}

/** Whether it serves the executions of `ff_queue q`; the rule of `mismatchOf`. */
export function isServedSql({ anyKind, kinds, versions, capabilities }: ServedSql): string {
  return `(${anyKind} or q.execution_kind = any (${kinds}))
  and (q.task_version = '' or q.task_version = any (${versions}))
  and q.required_capabilities <@ ${capabilities}`
}

/** Columns of `ff_queue q` for `unservedError`. */
export const neededColumns = `q.execution_kind as needed_kind, q.task_version as needed_version,
    q.required_capabilities as needed_capabilities`

interface NeededRow {
  readonly needed_kind: string | null
  readonly needed_version: string | null
  readonly needed_capabilities: readonly string[] | null
}

/** Null where the worker serves the execution. */
export function unservedError(executionId: ExecutionId, served: Served, row: NeededRow): EngineError | null {
  const mismatch = mismatchOf(served, {
    kind: row.needed_kind!,
    version: row.needed_version === '' ? null : row.needed_version,
    capabilities: row.needed_capabilities!,
  })
  if (mismatch === null) return null
  const sentence = `execution ${executionId} ${mismatch.sentence}; use a worker that serves it`
  return new EngineError('capability_mismatch', sentence, { executionId, ...mismatch.details })
}
