// The rules that tie a condition to its suspension.
import { nodesOf, rootPath, signalNodesOf, waitpointsOf } from './condition.ts'
import type { Condition } from './condition.ts'
import { impossible } from './condition-fault.ts'
import { show } from './text.ts'

export interface Binding {
  /** The keys of the waitpoints that the suspension binds, the primary first. */
  readonly waitpoints: readonly string[]
  readonly hasDeadline: boolean
}

/**
 * Refuses a condition that waits for something that this suspension does not have, and several waitpoints of which the
 * condition ignores one.
 */
export function checkBinding(condition: Condition, { waitpoints, hasDeadline }: Binding): void {
  const boundKeys = new Set(waitpoints)
  const named = new Set<string>()
  for (const [path, node] of signalNodesOf(condition)) {
    for (const key of waitpointsOf(node)) {
      named.add(key)
      if (boundKeys.has(key)) continue
      const why =
        node === condition && node.kind === 'signal'
          ? 'waitpoint_key_mismatch'
          : 'referenced_waitpoint_key_missing_binding'
      throw impossible(why, path, `waitpoint ${show(key)} is not bound; ${bound(waitpoints)}`)
    }
  }
  const ignored = waitpoints.find((key) => !named.has(key))
  // A single waitpoint is allowed with a condition for an operator or a timeout: signals to it are recorded.
  if (waitpoints.length > 1 && ignored !== undefined) {
    throw impossible(
      'extra_binding_not_referenced_by_condition',
      rootPath,
      `no part of the condition takes signals from waitpoint ${show(ignored)}; name it in the condition, or do not bind it`,
    )
  }
  if (hasDeadline) return
  for (const [path, node] of nodesOf(condition)) {
    if (node.kind !== 'timeout') continue
    throw impossible(
      'timeout_only_without_deadline',
      path,
      'the suspension has no timeout; set one, or remove this part of the condition',
    )
  }
}

function bound(keys: readonly string[]): string {
  return keys.length === 0 ? 'the suspension binds none' : `the suspension binds ${keys.map(show).join(', ')}`
}
