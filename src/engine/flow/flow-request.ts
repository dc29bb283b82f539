// The fields of a flow as a whole.
import { id } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import { formatFlowId, mintFlowId, parseFlowId, type FlowId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { creator, kind, namespace, tags } from '../../model/named-fields.ts'
import { checkKind } from '../../model/name.ts'
import { parseTags } from '../../model/tag.ts'
import { checkText } from '../../model/text.ts'
import { creatorOf, namespaceFor, type Acting } from '../kernel/caller.ts'

export const flowFields = {
  /** Minted when left out. The same request again returns `duplicate`. */
  flowId: id('flow').optional(),
  kind,
  namespace: namespace.optional(),
  tags: tags.optional(),
  /** The creator; defaults to the caller's actor. */
  creator: creator.optional(),
}

export interface FlowRequest extends RequestOf<typeof flowFields> {}

/** A checked flow, as the statements take it. */
export interface NewFlow {
  readonly flowId: FlowId
  readonly partition: number
  readonly uuid: string
  /** The id is ours, so no other caller can have written it. */
  readonly minted: boolean
  /** The outermost flow; itself unless it represents a member of another. */
  readonly rootUuid: string
  /** The execution that represents it in another flow. */
  readonly memberUuid: string | null
  readonly namespace: string
  readonly kind: string
  readonly creator: string
  readonly actor: string
  readonly tags: Readonly<Record<string, string>>
  /** It waits for the start of that execution. */
  readonly isHeld: boolean
  readonly memberCount: number
  readonly edgeCount: number
}

/** Its known fields; the caller has refused the others. */
export function checkFlowRequest(caller: Acting, request: FlowRequest): NewFlow {
  const flowId = request.flowId ?? mintFlowId()
  const { partition, uuid } = parseFlowId(flowId)
  return {
    // As it is stored: a uuid may be written in capitals.
    flowId: formatFlowId(partition, uuid),
    partition,
    uuid,
    minted: request.flowId === undefined,
    rootUuid: uuid,
    memberUuid: null,
    namespace: namespaceFor(caller, request.namespace),
    kind: checkKind(request.kind),
    creator:
      request.creator === undefined
        ? creatorOf(caller)
        : checkText('creator', request.creator, { maxBytes: limits.creatorBytes }),
    actor: caller.actor,
    tags: parseTags(request.tags),
    isHeld: false,
    memberCount: 0,
    edgeCount: 0,
  }
}

export function checkMemberName(field: string, value: unknown): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.memberNameBytes, refuseControls: true })
}

export function checkDataRef(field: string, value: unknown): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.dataRefBytes, refuseControls: true })
}
