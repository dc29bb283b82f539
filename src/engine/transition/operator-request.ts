// The request of an operator's write: the execution, then the fields of the verb.
import { id } from '../../model/field-kinds.ts'
import type { CheckedOf, Fields } from '../../model/field.ts'
import { setRequest, type DerivedOf, type SetRequest } from '../kernel/set-request.ts'
import { checkTarget, targetInput, targetParams, targetValues, type Target } from './operator-set.ts'

const targetFields = { executionId: id('execution') }

const start = {
  fields: targetFields,
  check: (caller: Parameters<typeof checkTarget>[0], request: { readonly executionId: string }) =>
    checkTarget(caller, request.executionId),
  params: targetParams,
  input: targetInput,
  isMaterialized: true,
  values: targetValues,
}

export function operatorRequest<const Table extends Fields, Values = unknown>(
  operation: string,
  table: Table,
  derived?: DerivedOf<Target & CheckedOf<Table>, Values>,
): SetRequest<Target & CheckedOf<Table> & Values, typeof targetFields & Table> {
  return setRequest(start, operation, table, derived)
}
