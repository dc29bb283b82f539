// Executions that are suspended, the longest first.
import { checkFields, type RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { kind, lane, namespace } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageFields } from '../kernel/page.ts'
import { list } from './list.ts'
import type { Suspension } from '../waiting/suspension/suspension.ts'

export const listSuspensionsFields = {
  namespace: namespace.optional(),
  lane: lane.optional(),
  kind: kind.optional(),
  ...pageFields,
}

export interface ListSuspensionsRequest extends RequestOf<typeof listSuspensionsFields> {}

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
  checkFields('suspensions.list', listSuspensionsFields, request)
  const { executions, nextCursor } = await list(sql, caller, { ...request, state: 'suspended' })
  const suspensions = executions.flatMap(({ executionId, namespace, lane, kind, suspension }) =>
    suspension === null ? [] : [{ executionId, namespace, lane, kind, ...suspension }],
  )
  return { suspensions, nextCursor }
}
