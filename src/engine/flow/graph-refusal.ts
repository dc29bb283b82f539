// The errors for graphs that are not possible.
import { EngineError } from '../../model/errors.ts'
import { showCycle } from '../../model/graph.ts'
import type { FlowId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { show } from '../../model/text.ts'

export function selfEdge(edge: string, name: string): EngineError {
  const sentence = `${edge} leads from ${show(name)} to itself; remove it`
  return new EngineError('invalid_dependency', sentence, { edge, name })
}

export function cycleDetected(names: readonly string[]): EngineError {
  const sentence = `the flow would depend on itself: ${showCycle(names)}; remove one of these edges`
  return new EngineError('cycle_detected', sentence, { path: names.slice(0, 100) })
}

export function tooFewEdges(name: string, needed: number, total: number): EngineError {
  const sentence = `member ${show(name)} needs ${needed} inbound edges and has ${total}; add edges, or lower the number needed`
  return new EngineError('invalid_dependency', sentence, { name, needed, total })
}

/** For a flow that would have so many. */
export function refuseTooLarge(flowId: FlowId, members: number, edges: number): void {
  const { flowMemberCount, flowEdgeCount } = limits
  if (members <= flowMemberCount && edges <= flowEdgeCount) return
  const sentence = `flow ${flowId} would have ${members} members and ${edges} edges; a flow has at most ${flowMemberCount} and ${flowEdgeCount}`
  throw new EngineError('too_many_items', sentence, { flowId })
}

export function flowIdTaken(flowId: FlowId): EngineError {
  const sentence = `flow ${flowId} already exists, created by another request; use a new id, or omit it`
  return new EngineError('flow_id_taken', sentence, { flowId })
}

/** The same refusal, with its place in the request. */
export function inField<T>(field: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!EngineError.is(error)) throw error
    throw new EngineError(error.code, `${field}: ${error.message}`, { ...error.details, at: field }, { cause: error })
  }
}
