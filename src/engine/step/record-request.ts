// The request of `steps.record`, checked whole before anything is sent.
import { refusal } from '../../model/errors.ts'
import { bytes, duration, encodingOf, time, uuid, whole, word } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { stepIndex, stepName } from '../../model/named-fields.ts'
import { recordedStates, stepKinds } from '../../model/step.ts'
import { show } from '../../model/text.ts'
import type { Caller } from '../kernel/caller.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { fencedRequest } from '../transition/fenced-request.ts'

const count = whole({ max: 2 ** 31 - 1, allowed: 'a whole number of at least 0' })
const result = bytes({
  maxBytes: limits.stepResultBytes,
  advice: 'Keep it elsewhere and return a reference',
  nameOf: ({ name }) => `the result of step ${show(name)}`,
})

export const recordStepRequest = fencedRequest('steps.record', {
  name: stepName.inColumn('step_name'),
  /** Of several with one name; defaults to 0. */
  index: stepIndex.default(0).inColumn('step_index'),
  /** How many steps the code has reached before it; defaults to 0. */
  place: count.default(0),
  kind: word(stepKinds),
  state: word(recordedStates),
  /** Tries so far; defaults to 1. */
  tryCount: count.default(1),
  /** When it continues: a duration from now, or `dueAt`, a point in time. */
  dueIn: duration().optional(),
  dueAt: time().optional().inColumn('given_due_at_ms'),
  durationMs: count.optional(),
  /** The uuid of the signal, or of the child, that it came from. */
  originId: uuid().optional(),
  /** Its result, or of a failure the error, encoded. */
  result: result.optional(),
  resultEncoding: encodingOf('result'),
})

export interface RecordStepRequest extends RequestOf<typeof recordStepRequest.fields> {}

export type NewStep = ItemOf<typeof recordStepRequest>

export interface StepRecorded {
  readonly kind: 'step_recorded'
  readonly executionId: ExecutionId
  readonly recordedAt: number
  readonly dueAt: number | null
}

export function checkRecordStepRequest(caller: Caller, request: RecordStepRequest): NewStep {
  const step = recordStepRequest.check(caller, request)
  if (step.dueInMs === null || step.dueAt === null) return step
  throw refusal('invalid_input', 'dueIn', 'given together with dueAt', 'given alone')
}
