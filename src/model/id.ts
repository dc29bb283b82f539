// An id on the wire is `{fp:N}:<uuid>`. N is a partition, chosen once when the id is minted and then only read: it says
// in which shard the thing and everything that is decided together with it live.
import { crc16 } from './crc16.ts'
import { EngineError, refusal } from './errors.ts'
import { limits } from './limits.ts'
import { show } from './text.ts'
import { mintUuid } from './uuid.ts'

declare const noun: unique symbol

/** A string literal of the right form is accepted; an id of another noun is not. */
export type ExecutionId = `{fp:${number}}:${string}` & { readonly [noun]?: 'execution' }
export type FlowId = `{fp:${number}}:${string}` & { readonly [noun]?: 'flow' }
/** Its partition is that of its execution. */
export type WaitpointId = `{fp:${number}}:${string}` & { readonly [noun]?: 'waitpoint' }

export interface IdParts {
  readonly partition: number
  readonly uuid: string
}

export function parseExecutionId(text: unknown): IdParts {
  return parseId('execution', text)
}

export function parseFlowId(text: unknown): IdParts {
  return parseId('flow', text)
}

export function parseWaitpointId(text: unknown): IdParts {
  return parseId('waitpoint', text)
}

export function formatExecutionId(partition: number, uuid: string): ExecutionId {
  return `{fp:${partition}}:${uuid}` as const
}

export function formatFlowId(partition: number, uuid: string): FlowId {
  return `{fp:${partition}}:${uuid}` as const
}

export function formatWaitpointId(partition: number, uuid: string): WaitpointId {
  return `{fp:${partition}}:${uuid}` as const
}

/** What the new execution belongs with; the first that is given decides. */
export interface IdPlacement {
  // Not `| undefined`: within a union the compiler takes one noun's id for the other's.
  readonly flowId?: FlowId
  readonly parentId?: ExecutionId
  readonly namespace?: string | undefined
  readonly idempotencyKey?: string | undefined
}

export function mintExecutionId(within?: IdPlacement): ExecutionId {
  const { partition, uuid } = mintExecutionIdParts(within)
  return formatExecutionId(partition, uuid)
}

export function mintExecutionIdParts(within: IdPlacement = {}): IdParts {
  const uuid = mintUuid()
  return { partition: partitionWithin(within, uuid), uuid }
}

export function mintFlowId(): FlowId {
  const uuid = mintUuid()
  return formatFlowId(partitionOfUuid(uuid), uuid)
}

function partitionWithin({ flowId, parentId, namespace, idempotencyKey }: IdPlacement, uuid: string): number {
  if (flowId !== undefined) return parseFlowId(flowId).partition
  if (parentId !== undefined) return parseExecutionId(parentId).partition
  if (idempotencyKey === undefined) return partitionOfUuid(uuid)
  if (namespace === undefined) {
    throw new EngineError('invalid_input', 'idempotency keys are unique per namespace; pass the namespace too', {
      field: 'namespace',
    })
  }
  return partitionOfKey(namespace, idempotencyKey)
}

export function partitionOfUuid(uuid: string): number {
  return crc16(Buffer.from(uuid.replaceAll('-', ''), 'hex')) % limits.partitionCount
}

/** The zero byte keeps (`a`, `bc`) and (`ab`, `c`) apart; neither text can hold one. */
export function partitionOfKey(namespace: string, key: string): number {
  return crc16(Buffer.from(`${namespace}\0${key}`)) % limits.partitionCount
}

const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** The id of an edge is a plain uuid, unique within its flow. */
export function parseEdgeId(text: unknown): string {
  const uuid = typeof text === 'string' ? text.toLowerCase() : ''
  if (uuidForm.test(uuid)) return uuid
  throw refusal('invalid_id', 'edge id', show(text), 'a uuid')
}

/** Accepts `{fp:7}`, as ids begin, or the number 7. */
export function parsePartition(tag: unknown): number {
  if (typeof tag === 'number') return checkPartition(tag)
  const digits = typeof tag === 'string' ? /^\{fp:(0|[1-9]\d*)\}$/.exec(tag)?.[1] : undefined
  if (digits === undefined) {
    throw refusal('invalid_partition', 'partition', show(tag), '{fp:N} or N, with N from 0 to 255')
  }
  return checkPartition(Number(digits))
}

// Any version of uuid, in small letters or capitals; the tag has one spelling.
const idForm = /^\{fp:(0|[1-9]\d*)\}:([\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12})$/

export type Noun = 'execution' | 'flow' | 'waitpoint'

/** A uuid without its partition, in any case; the engine finds the partition in the row. */
export function isBareUuid(text: unknown): text is string {
  return typeof text === 'string' && text.length === 36 && uuidForm.test(text.toLowerCase())
}

/** Reads `{fp:N}:<uuid>` or the bare uuid, whose partition is null. For code that checks an id before it uses it. */
export function parseGivenId(text: string): { readonly partition: number | null; readonly uuid: string } {
  return isBareUuid(text) ? { partition: null, uuid: checkUuid('execution', text) } : parseExecutionId(text)
}

/**
 * The first and the last uuid with this prefix. Shorter prefixes would match the uuids of hours, because the first bits
 * are the time.
 */
export function parseIdPrefix(text: unknown): { readonly first: string; readonly last: string } {
  const prefix = typeof text === 'string' ? text.toLowerCase() : ''
  const fits = prefix.length >= limits.idPrefixCharacters && prefix.length <= lastUuid.length
  if (fits && uuidForm.test(prefix + firstUuid.slice(prefix.length))) {
    return { first: prefix + firstUuid.slice(prefix.length), last: prefix + lastUuid.slice(prefix.length) }
  }
  const allowed = `the first ${limits.idPrefixCharacters} or more characters of a uuid, without {fp:N}:`
  throw refusal('invalid_id', 'idPrefix', show(text), allowed)
}

function parseId(noun: Noun, text: unknown): IdParts {
  const match = typeof text === 'string' ? idForm.exec(text) : null
  if (match === null) {
    // Requests that name a stored row have their bare uuids completed before they come here.
    const allowed = isBareUuid(text)
      ? '{fp:N}:<uuid> here, because N decides where the row is stored; omit the id to have one generated'
      : '{fp:N}:<uuid> with N from 0 to 255, or the bare uuid'
    throw refusal('invalid_id', `${noun} id`, show(text), allowed)
  }
  return { partition: checkPartition(Number(match[1])), uuid: checkUuid(noun, match[2]!) }
}

function checkUuid(noun: Noun, text: string): string {
  const uuid = text.toLowerCase()
  // Pages begin before the first and after the last uuid, so no row may have them.
  if (uuid === firstUuid || uuid === lastUuid)
    throw refusal('invalid_id', `${noun} id`, show(text), 'another id: this one is reserved')
  return uuid
}

const firstUuid = '00000000-0000-0000-0000-000000000000'
const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function checkPartition(partition: number): number {
  if (Number.isInteger(partition) && partition >= 0 && partition < limits.partitionCount) {
    return partition
  }
  throw refusal('invalid_partition', 'partition', `${partition}`, 'a whole number from 0 to 255')
}
