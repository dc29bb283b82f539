// The result of an operator's call is stored with its execution, under the id of the request: a repeat after a lost
// reply returns that result, and acts no second time, on whatever process or server it arrives. It is deleted with the
// execution. A refused call has changed nothing, so nothing is stored.
//
// The row is written by the statement that changes the execution. So a reader of the changed execution sees the row,
// too.
import { randomUUID } from 'node:crypto'
import { optionalField } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { checkText } from '../../model/text.ts'
import { statement } from '../../sql/statement.ts'
import type { Derived, SetValues } from '../kernel/set-request.ts'

/** The part of a checked request that identifies it. */
export interface Repeatable {
  readonly requestId: string
  /** The caller chose it, and may have sent it before. */
  readonly isGiven: boolean
}

export function checkRequestId(requestId: unknown): Repeatable {
  if (requestId === undefined) return { requestId: randomUUID(), isGiven: false }
  return { requestId: checkText('requestId', requestId, idRule), isGiven: true }
}

export const requestParams = { request_ids: 'text[]', may_repeat: 'bool[]' } as const

export function requestValues(items: readonly Repeatable[], again: boolean) {
  return {
    request_ids: items.map((item) => item.requestId),
    may_repeat: items.map((item) => again || item.isGiven),
  }
}

/** The columns of the CTE `input` that `requestParams` fill, which `target` has too. */
export const requestInput = ['request_id', 'may_repeat'] as const

const idRule = { minBytes: 1, maxBytes: limits.requestIdBytes, refuseControls: true }

/** The columns `request_id` and `may_repeat` of `input`: a field, and what is derived from it. */
export const requestId = optionalField<string>({
  check: (name, value = randomUUID()) => checkText(name, value, idRule),
  wire: { kind: 'text', rule: idRule },
  column: 'text',
})

/** The caller chose the id, and may have sent it before. */
export const mayRepeat: Derived<unknown, boolean> = {
  column: 'bool',
  from: (_, request) => request['requestId'] !== undefined,
}

/** With `again`, an earlier reply to these items was lost. */
export function repeatable(values: SetValues, again: boolean): SetValues {
  return again ? { ...values, may_repeat: values['may_repeat']!.map(() => true as never) } : values
}

/** Follows `target`. Yields `repeated`: the stored results, by ordinal. A first call reads nothing. */
export const repeatedRequests = `
repeated as materialized (
  select t.ordinal, r.answer
  from target t
  join flowfabric.ff_request r
    on r.execution_id = any (array[t.execution_id]) and r.request_id = any (array[t.request_id])
  where t.may_repeat
)`

/** For a row `t` of `target`. */
export const isRepeated = 't.ordinal in (select ordinal from repeated)'
export const repeatedAnswer = '(select r.answer from repeated r where r.ordinal = t.ordinal) as repeated'

/** Stores a result for each row of `from`, which has execution_id and request_id. */
export function rememberRequests(from: string, answer: string, atMs: string): string {
  return `
remembered as (
  insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
  select t.execution_id, t.request_id, ${answer}, ${atMs}
  from ${from}
)`
}

/** For a transaction that is decided in this process, under the lock that all such calls take. */
export const readRequest = statement({
  name: 'request.read',
  params: { execution_id: 'uuid', request_id: 'text' },
  row: { answer: 'jsonb' },
  text: `
select answer
from flowfabric.ff_request
where execution_id = $1 and request_id = $2`,
})

export const rememberRequest = statement({
  name: 'request.remember',
  params: { execution_id: 'uuid', request_id: 'text', answer: 'jsonb' },
  row: {},
  text: `
insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
values ($1, $2, $3::jsonb, flowfabric.ff_now_ms())`,
})
