// What a worker serves: kinds, versions and capabilities, checked in the same way for a claim, a grant and the claim by
// a grant.
import { parseCapabilities } from '../../model/capability.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { checkKind, checkVersion } from '../../model/name.ts'
import { mismatchOf, type Served } from '../../model/served.ts'
import { show } from '../../model/text.ts'

export interface ServedRequest {
  /** Left out: any kind. */
  readonly kinds?: readonly string[]
  /** Versions that this worker serves, besides executions without one. Left out: only those. */
  readonly versions?: readonly string[]
  /** Left out: none, so that it serves only executions that need none. */
  readonly capabilities?: readonly string[]
}

export const servedFields = ['kinds', 'versions', 'capabilities'] as const satisfies readonly (keyof ServedRequest)[]

export function checkServed(request: ServedRequest): Served {
  return {
    kinds: someOf('kinds', request.kinds)?.map(checkKind) ?? null,
    versions: listOf('versions', request.versions)?.map(checkVersion) ?? [],
    capabilities: parseCapabilities(request.capabilities),
  }
}

function listOf(field: string, value: unknown): readonly string[] | undefined {
  if (value === undefined || Array.isArray(value)) return value
  throw refusal('invalid_input', field, show(value), 'an array, or omitted')
}

/** An empty list would match nothing at all. */
export function someOf(field: string, value: unknown): readonly string[] | undefined {
  const list = listOf(field, value)
  if (list?.length === 0) throw refusal('invalid_input', field, 'empty', 'one or more, or omitted')
  return list
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
