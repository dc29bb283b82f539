// Converts a task and an input to a request of `executions.create`: the schema checks the input, and the codec encodes
// it. The task's own policy is a separate field from the submit's options, because the registered task goes between
// them.
import type { CreateRequest } from '../engine/execution/create-request.ts'
import type { RegisteredTask } from '../engine/task/register.ts'
import { encodeValue, type Codec } from '../model/codec.ts'
import { refusal } from '../model/errors.ts'
import type { TaskPolicyInput } from '../model/task-policy.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { checkBy } from './schema.ts'
import { isTask, type Task } from './task.ts'

/** The options of a submit. Each one overrides that of the task. */
export type SubmitOptions = Omit<
  CreateRequest,
  'kind' | 'input' | 'payload' | 'payloadEncoding' | 'version' | 'taskDefaults'
> & {
  /** Instead of the task's own; null: any worker. */
  readonly version?: string | null
}

export const submitOptionNames = [
  'executionId',
  'namespace',
  'lane',
  'version',
  'priority',
  'delay',
  'delayUntil',
  'deadline',
  'deadlineAt',
  'requiredCapabilities',
  'tags',
  'policy',
  'creator',
  'parentId',
  'onParentEnd',
  'idempotencyKey',
  'idempotencyTtl',
] as const satisfies readonly (keyof SubmitOptions)[]

export async function requestOf(
  codec: Codec,
  task: Task,
  input: unknown,
  options: SubmitOptions,
): Promise<CreateRequest> {
  if (!isTask(task)) throw refusal('invalid_input', 'the task', show(task), 'what task() returned')
  refuseUnknownFields('submit', options, submitOptionNames)
  const what = `the input of ${task.name}`
  // The input is stored as it was passed: the worker checks it again, and the handler receives the output of the
  // schema.
  await checkBy(task.schemas.input, input, what)
  const encoded = encodeValue(codec, what, input)
  const { version = task.version, ...rest } = options
  return {
    ...defined(rest),
    kind: task.name,
    taskDefaults: taskPolicyOf(task),
    ...(version !== null && { version }),
    ...(encoded !== null && { payload: encoded.bytes, payloadEncoding: encoded.encoding }),
  }
}

/** The task's policy for its executions, as a submit sends it and a worker registers it. */
export function taskPolicyOf({ lane, policy, deadline, tags }: Task): TaskPolicyInput {
  return { lane, policy, ...(deadline !== undefined && { deadline }), ...(tags !== undefined && { tags }) }
}

export function registeredTaskOf(task: Task): RegisteredTask {
  return { kind: task.name, ...(task.version !== null && { version: task.version }), ...taskPolicyOf(task) }
}

/** A field that is undefined counts as left out, and must not hide a default. */
export function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}
