// The upstreams of a member of a flow, as its code reads them. An edge that the member waited for is final, so its upstream is the same in
// every run. An upstream that had not ended in one run may have ended by the next.
import type { UpstreamResult } from '../engine/flow/upstream-results.ts'
import { EngineError } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Upstream } from './context.ts'
import type { Holder } from './holder.ts'

/** All upstreams, in the order of their edges. */
export async function readUpstreams(holder: Holder, names?: readonly string[]): Promise<readonly Upstream[]> {
  const { executionId } = holder.claim
  const found: Upstream[] = []
  let cursor: string | null = null
  do {
    const request: object = { limit: 1000, ...(names !== undefined && { names }), ...(cursor !== null && { cursor }) }
    const page = await holder.retryWhileLeased(() => holder.engine.flows.upstreamResults(executionId, request))
    found.push(...page.results.map((result) => upstreamOf(holder, result)))
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

/** The result of the upstream with this name. */
export async function readUpstream(holder: Holder, name: string): Promise<unknown> {
  const [found] = await readUpstreams(holder, [name])
  if (found?.outcome === 'success') return found.value
  const { executionId } = holder.claim
  const fact =
    found === undefined
      ? `execution ${executionId} has no upstream named ${show(name)}`
      : `the upstream ${show(name)} of ${executionId} ${found.outcome === null ? 'has not ended' : `is ${found.outcome}`}, so it has no result`
  throw new EngineError('invalid_dependency', `${fact}; ctx.upstreams() returns all upstreams and how they ended`, {
    executionId,
    name,
  })
}

function upstreamOf(holder: Holder, { name, upstreamId, kind, outcome, result, encoding }: UpstreamResult): Upstream {
  const value = outcome === 'success' ? holder.decode(`the result of ${show(name)}`, result, encoding) : undefined
  return { name, executionId: upstreamId, kind, outcome, value }
}
