import { layer, type TaskPolicy } from '../../model/task-policy.ts'
import type { CheckedExecution, NewExecution } from '../transition/new-execution.ts'

/** Combines a checked request with the policy of its task. */
export function resolveWith(item: CheckedExecution, registered: TaskPolicy | null): NewExecution {
  const { givenLane: lane, taskDefaults, policy, deadlineMs, deadlineAt, tags } = item
  const { lane: used, ...rest } = layer({ lane, policy, deadlineMs, deadlineAt, tags }, registered, taskDefaults)
  const queue = used === item.queue.lane ? item.queue : { ...item.queue, lane: used }
  return { ...item, queue, ...rest }
}
