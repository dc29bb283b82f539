// The result of an operator's call is stored with its execution, under the id of the request: a repeat after a lost
// reply returns that result and changes nothing, on any process or server. The result is deleted with the
// execution. A refused call has changed nothing, so nothing is stored.
//
// The statement that changes the execution also writes the row. So a reader of the changed execution sees the row too.
import { randomUUID } from 'node:crypto'
import { optionalField } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { checkText } from '../../model/text.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Derived, SetValues } from '../kernel/set-request.ts'

/** The part of a checked request that identifies it. */
export interface Repeatable {
  readonly requestId: string
  /** The caller chose it, and may have sent it before. */
  readonly mayRepeat: boolean
}

const idRule = { minBytes: 1, maxBytes: limits.requestIdBytes, refuseControls: true }

/** The columns `request_id` and `may_repeat` of `input`: a field, and the value derived from it. */
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

const readRequests = statement({
  name: 'request.read',
  params: { execution_ids: 'uuid[]', request_ids: 'text[]' },
  row: { execution_id: 'uuid', answer: 'jsonb' },
  text: `
select r.execution_id, r.answer
from unnest($1::uuid[], $2::text[]) as i (execution_id, request_id)
join flowfabric.ff_request r
  on r.execution_id = any (array[i.execution_id]) and r.request_id = any (array[i.request_id])`,
})

type Remembered = Pick<Repeatable, 'requestId'> & {
  /** The execution's. */
  readonly uuid: string
}

/** The stored results, for a transaction that is decided in this process, after the lock. A first call reads nothing. */
export function readRequestsCall(items: readonly (Remembered & Repeatable)[], again: boolean) {
  const repeatable = items.filter((item) => again || item.mayRepeat)
  return call(readRequests, {
    execution_ids: repeatable.map((item) => item.uuid),
    request_ids: repeatable.map((item) => item.requestId),
  })
}

const storeRequests = statement({
  name: 'request.remember',
  params: { execution_ids: 'uuid[]', request_ids: 'text[]', answers: 'jsonb[]' },
  row: {},
  text: `
insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
select i.execution_id, i.request_id, i.answer, flowfabric.ff_now_ms()
from unnest($1::uuid[], $2::text[], $3::jsonb[]) as i (execution_id, request_id, answer)`,
})

export function rememberRequestsCall(items: readonly (Remembered & { readonly answer: unknown })[]) {
  return call(storeRequests, {
    execution_ids: items.map((item) => item.uuid),
    request_ids: items.map((item) => item.requestId),
    answers: items.map((item) => item.answer),
  })
}
