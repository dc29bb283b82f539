// Executions that are suspended, the longest first.
import type { ExecutionId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { list } from './list.ts'
import type { Suspension } from '../waiting/suspension/suspension.ts'

export interface ListSuspensionsRequest {
  readonly namespace?: string
  readonly lane?: string
  readonly kind?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface ListedSuspension extends Suspension {
  readonly executionId: ExecutionId
  readonly namespace: string
  readonly lane: string
  readonly kind: string
}

export interface SuspensionPage {
  readonly suspensions: readonly ListedSuspension[]
  readonly nextCursor: string | null
}

export async function listSuspensions(
  sql: Sql,
  caller: Caller,
  request: ListSuspensionsRequest,
): Promise<SuspensionPage> {
  refuseUnknownFields('suspensions.list', request, ['namespace', 'lane', 'kind', 'limit', 'cursor'])
  const { executions, nextCursor } = await list(sql, caller, { ...request, state: 'suspended' })
  const suspensions = executions.flatMap(({ executionId, namespace, lane, kind, suspension }) =>
    suspension === null ? [] : [{ executionId, namespace, lane, kind, ...suspension }],
  )
  return { suspensions, nextCursor }
}
