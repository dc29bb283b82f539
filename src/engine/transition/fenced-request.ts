// The request of a worker's write: the fence, then the fields of the verb.
import { id, unchecked, uuidForm } from '../../model/field-kinds.ts'
import type { CheckedOf, Fields } from '../../model/field.ts'
import { setRequest, type DerivedOf, type SetRequest } from '../kernel/set-request.ts'
import { checkFence, fenceInput, fenceParams, fenceValues, type CheckedFence } from './fence.ts'

/** `checkFence` checks them together. */
export const fenceFields = {
  executionId: id('execution'),
  leaseId: unchecked<string>({ kind: 'pattern', pattern: uuidForm }),
  leaseEpoch: unchecked<number>({ kind: 'whole', min: 1, max: Number.MAX_SAFE_INTEGER }),
}

const start = {
  fields: fenceFields,
  check: checkFence,
  params: fenceParams,
  input: fenceInput,
  isMaterialized: false,
  values: fenceValues,
}

export function fencedRequest<const Table extends Fields, Values = unknown>(
  operation: string,
  table: Table,
  derived?: DerivedOf<CheckedFence & CheckedOf<Table>, Values>,
): SetRequest<CheckedFence & CheckedOf<Table> & Values, typeof fenceFields & Table> {
  return setRequest(start, operation, table, derived)
}
