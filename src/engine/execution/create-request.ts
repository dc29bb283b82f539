// The request of `create`, checked as a whole before anything is sent. An unknown field is refused and not ignored: work
// that silently ran without its deadline is worse than work that was never accepted.
import { createHash, type Hash } from 'node:crypto'
import { creatorOf, namespaceFor, type Acting } from '../kernel/caller.ts'
import { parseCapabilities } from '../../model/capability.ts'
import { parseDuration } from '../../model/duration.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { duration, id, time, unchecked, word } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import { formatExecutionId, mintExecutionIdParts, parseExecutionId, type FlowId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { checkKind, checkLane, checkVersion } from '../../model/name.ts'
import {
  capabilities,
  creator,
  idempotencyKey,
  kind,
  lane,
  namespace,
  payloadFields,
  priority,
  tags,
  version,
} from '../../model/named-fields.ts'
import { payloadOf } from '../../model/plain.ts'
import { clampPriority, parsePartialPolicy, type PolicyInput } from '../../model/policy.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { parseTaskPolicy, taskPolicyFields, type TaskPolicyInput } from '../../model/task-policy.ts'
import { parseTags, traceparentTag, type Tags } from '../../model/tag.ts'
import { checkText, show } from '../../model/text.ts'
import type { Queue } from '../queue/intern.ts'
import { checkTime } from '../../model/time.ts'
import { onParentEnds, type CheckedExecution, type NewParent } from '../transition/new-execution.ts'

/** The fields of an execution that a member of a flow and a schedule have too. */
export const executionFields = {
  /** The name of the task that runs it. */
  kind,
  /** Defaults to the task's lane, else `default`. */
  lane: lane.optional(),
  /** Only workers that serve this version claim it; if omitted, any worker does. */
  version: version.optional(),
  /** Plain JSON; stored as the payload, encoded as `json`. */
  input: unchecked<unknown>({ kind: 'json' })
    .optional()
    .describe('Plain JSON, which tasks read as it is. Send this or `payload`.'),
  /** Bytes, instead of `input`. */
  payload: payloadFields.payload,
  /** How to read the payload; defaults to `json`. */
  payloadEncoding: payloadFields.payloadEncoding.describe('Of `payload`; defaults to `json`.'),
  /** 0 to 9000, high first; a value outside is clamped, and the result reports it. */
  priority: priority.optional().describe('Higher runs first.'),
  /** Ends the execution as `expired`, in any state, after this duration from now. */
  deadline: duration().optional(),
  /** Only workers that offer all of these claim it. */
  requiredCapabilities: capabilities.optional(),
  /** Names and values to find it by. */
  tags: tags.optional(),
  /** Overrides the policy of the registered task, field by field. */
  policy: unchecked<PolicyInput>({ kind: 'named', name: 'PolicyInput' })
    .optional()
    .describe('Goes before the policy of the registered task, field by field.'),
  /** The task's own defaults. A value applies where neither this request nor the registered task has one. */
  taskDefaults: unchecked<TaskPolicyInput>({ kind: 'fields', fields: taskPolicyFields })
    .optional()
    .describe('Apply where neither the request nor the registered task names a value.'),
}

/** The fields of an execution that a member of a flow has too. */
export const memberFields = {
  ...executionFields,
  /** Minted if omitted. A create with an existing id returns `duplicate`. */
  executionId: id('execution').optional(),
  /** Not claimed before this duration from now has passed. */
  delay: duration().optional(),
  /** Not claimed before this time, in milliseconds since 1970. */
  delayUntil: time().optional(),
  /** The same as `deadline` as a point in time, in milliseconds since 1970. */
  deadlineAt: time().optional(),
  /** The name of its creator; defaults to the caller's actor. */
  creator: creator.optional(),
  /** A second create with the same key returns the first execution. Unique in the namespace; for a child, in its parent. */
  idempotencyKey: idempotencyKey.optional(),
  /** How long the key is remembered; defaults to 24 h. */
  idempotencyTtl: duration().optional(),
}

export const createFields = {
  ...memberFields,
  /** Defaults to the caller's namespace. */
  namespace: namespace.optional(),
  /** The parent execution. The child shares its namespace and partition. */
  parentId: id('execution').optional(),
  /** What happens to it when its parent ends first: `cancel` (the default), or `detach` to let it continue. */
  onParentEnd: word(onParentEnds).optional(),
}

export interface CreateRequest extends RequestOf<typeof createFields> {}

const fields = Object.keys(createFields)

const dayMs = 86_400_000

/** A member of a flow has the flow's partition, and its key is unique within the flow. */
export function checkCreateRequest(caller: Acting, request: CreateRequest, flowId?: FlowId): CheckedExecution {
  refuseUnknownFields('create', request, fields)
  const queue: Queue = {
    namespace: namespaceFor(caller, request.namespace),
    lane: checkLane(request.lane ?? 'default'),
    kind: checkKind(request.kind),
    version: request.version === undefined ? null : checkVersion(request.version),
    capabilities: parseCapabilities(request.requiredCapabilities),
  }
  // Checked before the id, because the id gets its partition from it.
  if (request.idempotencyKey !== undefined) checkText('idempotencyKey', request.idempotencyKey, keyRule)
  refuseBoth('delay', request.delay, 'delayUntil', request.delayUntil)
  refuseBoth('deadline', request.deadline, 'deadlineAt', request.deadlineAt)
  const { payload, payloadEncoding } = payloadOf('input', request)
  refuseWithout('idempotencyTtl', request.idempotencyTtl, 'idempotencyKey', request.idempotencyKey)
  refuseWithout('onParentEnd', request.onParentEnd, 'parentId', request.parentId)
  const requested: RequestedWork = {
    queue,
    givenLane: request.lane === undefined ? null : queue.lane,
    taskDefaults: request.taskDefaults === undefined ? null : parseTaskPolicy('taskDefaults', request.taskDefaults),
    parent: request.parentId === undefined ? null : checkParent(request.parentId, request.onParentEnd),
    priority: clampPriority(request.priority ?? 0).priority,
    givenPriority: request.priority ?? 0,
    delayMs: request.delay === undefined ? null : parseDuration('delay', request.delay),
    delayUntil: request.delayUntil === undefined ? null : checkTime('delayUntil', request.delayUntil),
    deadlineMs: request.deadline === undefined ? null : parseDuration('deadline', request.deadline),
    deadlineAt: request.deadlineAt === undefined ? null : checkTime('deadlineAt', request.deadlineAt),
    payload: payload === undefined ? null : checkPayload(payload),
    payloadEncoding: payload === undefined ? null : checkEncoding(payloadEncoding ?? 'json'),
    policy: parsePartialPolicy(request.policy),
    tags: request.tags === undefined ? null : checkTags(request.tags),
  }
  if (flowId !== undefined && requested.parent !== null) {
    throw refusal('invalid_input', 'parentId', 'given', 'omitted: a member of a flow has no parent')
  }
  return Object.assign(requested, checkIdentity(request, requested, flowId), {
    creator: request.creator === undefined ? creatorOf(caller) : checkText('creator', request.creator, creatorRule),
    ...(request.idempotencyKey === undefined ? noKey : checkKey(request, requested)),
  })
}

/** The requested work, without its identity and its creator. */
export type RequestedWork = Omit<
  CheckedExecution,
  'creator' | keyof typeof noKey | keyof ReturnType<typeof checkIdentity>
>

const noKey = { idempotencyKey: null, idempotencyTtlMs: null, requestHash: null }
const creatorRule = { maxBytes: limits.creatorBytes }
const keyRule = { minBytes: 1, maxBytes: limits.idempotencyKeyBytes }

function checkParent(parentId: string, onParentEnd: unknown = 'cancel'): NewParent {
  const { partition, uuid } = parseExecutionId(parentId)
  const found = onParentEnds.find((one) => one === onParentEnd)
  if (found === undefined) {
    throw refusal('invalid_input', 'onParentEnd', show(onParentEnd), `one of ${onParentEnds.join(', ')}`)
  }
  return { executionId: formatExecutionId(partition, uuid), uuid, onParentEnd: found }
}

function checkIdentity(
  { executionId, idempotencyKey }: CreateRequest,
  { queue, parent }: Pick<CheckedExecution, 'queue' | 'parent'>,
  flowId: FlowId | undefined,
) {
  const within = {
    namespace: queue.namespace,
    ...(flowId !== undefined && { flowId }),
    ...(parent !== null && { parentId: parent.executionId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }
  const own = mintExecutionIdParts(within)
  if (executionId === undefined) {
    return { executionId: formatExecutionId(own.partition, own.uuid), minted: true, ...own }
  }
  const { partition, uuid } = parseExecutionId(executionId)
  const wanted = own.partition
  const owner = ownerOf({ idempotencyKey, parent, flowId })
  if (owner !== null && partition !== wanted) {
    throw new EngineError(
      'invalid_partition',
      `execution id ${executionId} has partition ${partition}, but ${owner} belongs to ${wanted}; create the id from that, or omit it`,
      { executionId, partition, wanted },
    )
  }
  if (uuid === parent?.uuid) {
    throw refusal('invalid_input', 'parentId', `the execution's own id`, 'the id of another execution')
  }
  // In its stored form: the request may write the uuid in capitals.
  return { executionId: formatExecutionId(partition, uuid), minted: false, partition, uuid }
}

/** Whose partition it must have; null: any. */
function ownerOf(within: {
  readonly idempotencyKey: string | undefined
  readonly parent: NewParent | null
  readonly flowId: FlowId | undefined
}): string | null {
  const { idempotencyKey, parent, flowId } = within
  if (flowId !== undefined) return `its flow ${flowId}`
  if (parent !== null) return `its parent ${parent.executionId}`
  return idempotencyKey === undefined ? null : 'its idempotency key'
}

function refuseBoth(one: string, oneValue: unknown, other: string, otherValue: unknown): void {
  if (oneValue === undefined || otherValue === undefined) return
  throw new EngineError('invalid_input', `${one} and ${other} are both given; pass only one of them`, { field: one })
}

function refuseWithout(one: string, oneValue: unknown, other: string, otherValue: unknown): void {
  if (oneValue === undefined || otherValue !== undefined) return
  throw new EngineError('invalid_input', `${one} is given without ${other}; pass both or neither`, { field: one })
}

export function checkPayload(payload: unknown): Uint8Array {
  if (!(payload instanceof Uint8Array)) {
    const sentence = `payload is ${show(payload)}; it must be bytes (base64 over HTTP). To send JSON, use input`
    throw new EngineError('invalid_input', sentence, { field: 'payload' })
  }
  if (payload.byteLength <= limits.payloadBytes) return payload
  throw new EngineError(
    'payload_too_large',
    `payload is ${payload.byteLength} bytes; at most ${limits.payloadBytes} are stored. Keep it elsewhere and send a reference`,
    { field: 'payload', bytes: payload.byteLength, limit: limits.payloadBytes },
  )
}

export function checkEncoding(encoding: unknown): string {
  return checkText('payloadEncoding', encoding, { minBytes: 1, maxBytes: limits.encodingBytes, printableAscii: true })
}

function checkTags(given: unknown): Readonly<Record<string, string>> | null {
  const tags = parseTags(given)
  return Object.keys(tags).length === 0 ? null : tags
}

function checkKey({ idempotencyKey, idempotencyTtl }: CreateRequest, requested: RequestedWork) {
  return {
    idempotencyKey: idempotencyKey!,
    idempotencyTtlMs: idempotencyTtl === undefined ? dayMs : parseDuration('idempotencyTtl', idempotencyTtl),
    requestHash: hashRequest(requested),
  }
}

// The same request with the same key is a repeat; a different one is a conflict.
function hashRequest(requested: RequestedWork): Uint8Array {
  const hash = createHash('sha256')
  hashRequestedWork(hash, requested)
  return new Uint8Array(hash.digest())
}

// The same request within another trace is the same request.
function withoutTraceparent(tags: Tags): Tags | null {
  if (!(traceparentTag in tags)) return tags
  const { [traceparentTag]: _, ...others } = tags
  return Object.keys(others).length === 0 ? null : others
}

/**
 * Hashes the requested work, without its caller and identity. A checked request has one order of its fields. The task's own
 * policy is not part of it: a repeat after a new registration, or by newer code, is the same request.
 */
export function hashRequestedWork(hash: Hash, requested: RequestedWork): void {
  const { queue, parent, priority, givenPriority, delayMs, delayUntil, deadlineMs, deadlineAt } = requested
  const { payload, payloadEncoding, policy } = requested
  const tags = requested.tags === null ? null : withoutTraceparent(requested.tags)
  const times = [delayMs, delayUntil, deadlineMs, deadlineAt]
  const size = payload?.byteLength ?? null
  hash.update(JSON.stringify([queue, parent, priority, givenPriority, times, policy, tags, payloadEncoding, size]))
  if (payload !== null) hash.update(payload)
}
