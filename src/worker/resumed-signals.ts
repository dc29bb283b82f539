// The signals that ended a suspension. A claim carries one MiB of them at most; the others are read from the engine.
import type { Signal } from '../engine/waiting/signal-row.ts'
import type { Resumption } from '../engine/waiting/suspension/resumption.ts'
import type { Holder } from './holder.ts'

/** The resumption with all of its signals. */
export async function withAllSignals(holder: Holder, resumption: Resumption): Promise<Resumption> {
  if (!resumption.hasMoreSignals) return resumption
  return { ...resumption, signals: await signalsOf(holder), hasMoreSignals: false }
}

async function signalsOf(holder: Holder): Promise<readonly Signal[]> {
  const { engine, claim } = holder
  const suspension = await holder.retryWhileLeased(() => engine.suspensions.describe(claim.executionId))
  const missing = new Set(suspension?.outcome?.signals)
  const found: Signal[] = []
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await holder.retryWhileLeased(() => engine.signals.list(claim.executionId, from))
    found.push(...page.signals.filter(({ signalId }) => missing.delete(signalId)))
    cursor = page.nextCursor
  } while (cursor !== null && missing.size > 0)
  return found
}
