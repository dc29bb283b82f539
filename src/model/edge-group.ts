// What a member of a flow waits for: its inbound edges, each resolved once by how its upstream ended, and one rule over
// their counts.
import { refusal } from './errors.ts'
import { limits } from './limits.ts'
import { readShape } from './shape.ts'
import type { TerminalOutcome } from './state.ts'
import { oneOf, show } from './text.ts'

/**
 * `success_only` needs its upstream's success, `on_failure` that it failed, was cancelled or expired; `optional` takes any
 * ending.
 */
export const edgeKinds = ['success_only', 'optional', 'on_failure'] as const
export type EdgeKind = (typeof edgeKinds)[number]

/** `start` leads from a member that represents a flow to the first members of that flow; callers cannot request it. */
export type StoredEdgeKind = EdgeKind | 'start'

export type EdgeResolution = 'satisfied' | 'failed' | 'skipped'
export type Ending = Exclude<TerminalOutcome, 'none'>

/** How an ending resolves an edge; without an outcome it is the start of the flow that the upstream represents. */
export function resolveEdge(kind: StoredEdgeKind, outcome: TerminalOutcome): EdgeResolution {
  const otherwise = outcome === 'skipped' ? 'skipped' : 'failed'
  switch (kind) {
    case 'optional':
      return 'satisfied'
    case 'start':
      return outcome === 'none' ? 'satisfied' : otherwise
    case 'success_only':
      return outcome === 'success' ? 'satisfied' : otherwise
    case 'on_failure':
      return outcome === 'success' || outcome === 'skipped' ? 'skipped' : 'satisfied'
  }
}

export const onSatisfiedWords = ['cancel_remaining', 'let_run'] as const
/** What becomes of the upstreams that still run when the group has fired. */
export type OnSatisfied = (typeof onSatisfiedWords)[number]

export type JoinPolicy =
  | { readonly kind: 'all_of'; readonly onSatisfied: OnSatisfied }
  | { readonly kind: 'any_of'; readonly onSatisfied: OnSatisfied }
  | { readonly kind: 'quorum'; readonly k: number; readonly onSatisfied: OnSatisfied }

/** As a caller writes it. `any_of` and `quorum` cancel the remaining upstreams by default. */
export type JoinPolicyInput =
  | { readonly kind: 'all_of'; readonly onSatisfied?: OnSatisfied }
  | { readonly kind: 'any_of'; readonly onSatisfied?: OnSatisfied }
  | { readonly kind: 'quorum'; readonly k: number; readonly onSatisfied?: OnSatisfied }

export const allOf: JoinPolicy = { kind: 'all_of', onSatisfied: 'let_run' }

export function parseJoinPolicy(at: string, value: unknown): JoinPolicy {
  const { kind, k, onSatisfied } = readShape('invalid_input', at, value, {
    kind: (field, word) => readWord(field, word, ['all_of', 'any_of', 'quorum'] as const),
    k: readQuorum,
    onSatisfied: (field, word) => readWord(field, word, onSatisfiedWords),
  })
  if (kind === undefined) throw refusal('invalid_input', `${at}.kind`, 'missing', 'all_of, any_of or quorum')
  if (kind === 'quorum') {
    if (k === undefined)
      throw refusal('invalid_input', `${at}.k`, 'missing', 'the number of edges that must be satisfied')
    return { kind, k, onSatisfied: onSatisfied ?? 'cancel_remaining' }
  }
  if (k !== undefined) throw refusal('invalid_input', `${at}.k`, show(k), `omitted: ${kind} has none`)
  return { kind, onSatisfied: onSatisfied ?? (kind === 'all_of' ? 'let_run' : 'cancel_remaining') }
}

export function parseEdgeKind(at: string, value: unknown): EdgeKind {
  return readWord(at, value, edgeKinds)
}

function readQuorum(at: string, value: unknown): number {
  const isCount = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= limits.flowMemberCount
  if (isCount) return value as number
  throw refusal('invalid_input', at, show(value), `a whole number from 1 to ${limits.flowMemberCount}`)
}

function readWord<const Word extends string>(at: string, value: unknown, words: readonly Word[]): Word {
  if ((words as readonly unknown[]).includes(value)) return value as Word
  throw refusal('invalid_input', at, show(value), oneOf(value, words))
}

/** How many edges must be satisfied; null for all of them. */
export function quorumOf(policy: JoinPolicy): number | null {
  if (policy.kind === 'all_of') return null
  return policy.kind === 'any_of' ? 1 : policy.k
}

export interface GroupCounts {
  readonly total: number
  readonly satisfied: number
  readonly failed: number
  readonly skipped: number
  /** No more edges will come. */
  readonly isSealed: boolean
}

export type GroupState = 'pending' | 'satisfied' | 'impossible'

/** The state of a group that has not fired. */
export function groupState(policy: JoinPolicy, counts: GroupCounts): GroupState {
  return stateByQuorum(quorumOf(policy), counts)
}

/** A group that needs all of its edges is lost with the first one; others only when too few can still be satisfied. */
export function stateByQuorum(quorum: number | null, counts: GroupCounts): GroupState {
  const { total, satisfied, isSealed } = counts
  const lost = counts.failed + counts.skipped
  if (quorum === null) {
    if (lost > 0) return 'impossible'
    return satisfied === total ? 'satisfied' : 'pending'
  }
  if (satisfied >= quorum) return 'satisfied'
  return isSealed && lost > total - quorum ? 'impossible' : 'pending'
}
