// A task and an input become what `executions.create` takes: the input is held against its schema and encoded, and the task's
// own policy goes with it.
import type { CreateRequest } from '../engine/execution/create-request.ts'
import { encodeValue, type Codec } from '../model/codec.ts'
import { refusal } from '../model/errors.ts'
import type { PolicyInput } from '../model/policy.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { checkBy } from './schema.ts'
import { isTask, type Task } from './task.ts'

/** What `executions.create` takes, but for what the task says itself. */
export type SubmitOptions = Omit<CreateRequest, 'kind' | 'payload' | 'payloadEncoding' | 'version'> & {
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
  if (!isTask(task)) throw refusal('invalid_input', 'the task', show(task), 'what task() gave')
  refuseUnknownFields('submit', options, submitOptionNames)
  const what = `the input of ${task.name}`
  // What is stored is what was given: the worker holds it against the schema once more, and gives the handler what that makes
  // of it.
  await checkBy(task.schemas.input, input, what)
  const encoded = encodeValue(codec, what, input)
  const { version = task.version, ...rest } = options
  const hasDeadline = options.deadline !== undefined || options.deadlineAt !== undefined
  const own = {
    lane: task.lane,
    policy: task.policy,
    ...(task.deadline !== undefined && !hasDeadline && { deadline: task.deadline }),
  }
  return {
    ...over(own, rest),
    kind: task.name,
    ...(version !== null && { version }),
    ...(encoded !== null && { payload: encoded.bytes, payloadEncoding: encoded.encoding }),
  }
}

/** What is given, over what the task says itself: field by field, also of the policy. */
export function over<Own extends { readonly policy?: PolicyInput }, Given extends { readonly policy?: PolicyInput }>(
  own: Own,
  given: Given,
): Own & Given {
  const { policy } = given
  // Anything else is refused by who reads it.
  const isObject = typeof policy === 'object' && policy !== null
  return { ...own, ...defined(given), ...(isObject && { policy: { ...own.policy, ...defined(policy) } }) }
}

/** A field that is undefined counts as not given, and must not stand before a default. */
export function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}
