import type { NodePath } from './condition.ts'
import { EngineError } from './errors.ts'

/** The wire words of `details.why`, for conditions that are well formed and could never be satisfied, or always are. */
export type ConditionFault =
  | 'allof_empty_members'
  | 'anyof_empty_members'
  | 'count_n_zero'
  | 'count_waitpoints_empty'
  | 'count_exceeds_waitpoint_set'
  | 'count_exceeds_signal_limit'
  | 'count_exceeds_sources'
  | 'depth_exceeded'
  | 'waitpoints_empty'
  | 'waitpoint_key_mismatch'
  | 'referenced_waitpoint_key_missing_binding'
  | 'extra_binding_not_referenced_by_condition'
  | 'timeout_only_without_deadline'

/** The message begins with the wire word, or its replacement, and the path. */
export function impossible(why: ConditionFault, path: NodePath, sentence: string, head: string = why): EngineError {
  return new EngineError('invalid_condition', `${head} at path ${path}: ${sentence}`, { why, path })
}
