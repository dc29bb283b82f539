// A step as readers see it.
import type { StepKind, StepState } from '../../model/step.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'

export interface Step {
  /** Its position in the list of the generation's steps when that was read: 1, 2, 3, without gaps. */
  readonly number: number
  /**
   * The number of its newest record. Steps are listed, and their results delivered to later runs, in the order of these. There
   * are gaps: a step that is recorded again, such as a sleep when it begins and when it ends, takes a new number.
   */
  readonly recordNumber: number
  /** How many calls the code had reached before it, in the run that recorded it first. */
  readonly place: number
  readonly name: string
  /** Among those of one name: in the order of their first use. */
  readonly index: number
  readonly kind: StepKind
  readonly state: StepState
  readonly tryCount: number
  /** Of the holder that recorded it. */
  readonly attemptIndex: number
  readonly leaseEpoch: number
  readonly recordedAt: number
  /** When the next try, the end of the sleep or the timeout of the wait is due. */
  readonly dueAt: number | null
  /** How long the last try took. */
  readonly durationMs: number | null
  /** The uuid of the signal, or of the child, that it came from. */
  readonly originId: string | null
  /**
   * For a child or a compensation: the number of the record of its creation. `recordNumber` is that of its ending once
   * it has one.
   */
  readonly madeRecordNumber: number | null
  /** Its result, or for a failure the error. */
  readonly result: Uint8Array | null
  readonly resultEncoding: string | null
}

export const stepRow = {
  step_no: 'int4',
  place: 'int4',
  step_name: 'text',
  step_index: 'int4',
  kind: oneOf<StepKind>(),
  state: oneOf<StepState>(),
  try_count: 'int4',
  attempt_index: 'int4',
  lease_epoch: 'int8',
  recorded_at_ms: 'int8',
  due_at_ms: 'int8?',
  duration_ms: 'int8?',
  origin_id: 'uuid?',
  made_no: 'int4?',
  result: 'bytea?',
  result_encoding: 'text?',
} as const

/** The numbers of a generation begin after this one. */
export function beforeFirst(generation: string): string {
  return `(${generation}::int8 << 32)`
}

const computed: Readonly<Record<string, string>> = {
  step_no: `(s.step_no - ${beforeFirst('s.generation')})::int4 as step_no`,
  state: `case when s.state = 'pending' and e.lifecycle_phase = 'terminal' then 'abandoned' else s.state::text end as state`,
}

/** From `ff_step s` and its execution `e`. */
export const stepColumns: string = Object.keys(stepRow)
  .map((column) => computed[column] ?? `s.${column}`)
  .join(', ')

export function decodeStep(row: RowOf<typeof stepRow>, number: number): Step {
  return {
    number,
    recordNumber: row.step_no,
    place: row.place,
    name: row.step_name,
    index: row.step_index,
    kind: row.kind,
    state: row.state,
    tryCount: row.try_count,
    attemptIndex: row.attempt_index,
    leaseEpoch: row.lease_epoch,
    recordedAt: row.recorded_at_ms,
    dueAt: row.due_at_ms,
    durationMs: row.duration_ms,
    originId: row.origin_id,
    madeRecordNumber: row.made_no,
    result: row.result,
    resultEncoding: row.result_encoding,
  }
}
