// Events as they come: of one execution until it has ended, or of everything until the user has had enough.
import type { Engine } from '../engine/contract.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { Subscription } from '../engine/event/subscription.ts'
import type { ExecutionId } from '../model/id.ts'
import { isEnded } from '../model/state.ts'
import type { Cli } from './cli.ts'
import { collect } from './pages.ts'
import { cut, harmless, padTo } from './text.ts'
import { instant } from './time.ts'

/** What has happened to it so far, then what comes. True when it has ended. */
export async function follow(
  cli: Cli,
  engine: Engine,
  executionId: ExecutionId,
  events: Subscription,
): Promise<boolean> {
  const { rows } = await collect(10_000, async (from) => {
    const page = await engine.events.timeline(executionId, { limit: 1000, ...from })
    return { rows: page.events, nextCursor: page.nextCursor }
  })
  for (const event of rows) printEvent(cli, event, false)
  const told = new Set(rows.map((event) => event.cursor))
  const execution = await engine.executions.describe(executionId)
  const isOver = execution !== null && isEnded(execution.publicState)
  // It has ended since the timeline was read: its last events come through the subscription.
  const isToldOver = rows.some((event) => event.kind === 'ended' && event.generation === execution?.generation)
  if (isOver && (isToldOver || rows.length === 0)) {
    await events.return()
    return true
  }
  for await (const event of events) {
    if (event.kind === 'truncated' || event.executionId !== executionId || told.has(event.cursor)) continue
    printEvent(cli, event, false)
    if (event.kind === 'ended') return true
  }
  return false
}

/** One line: when, of which execution, what. */
export function printEvent(cli: Cli, event: LogEvent, isOfMany: boolean): void {
  if (cli.json) return cli.out.line(JSON.stringify(event))
  const { out } = cli
  const whose = event.executionId ?? event.flowId ?? ''
  const texts = [instant(event.occurredAt), ...(isOfMany ? [whose] : []), event.kind, detailOf(event)].map(harmless)
  if (!out.isTerminal) return out.line(texts.join('\t'))
  const { colours } = out
  const time = colours.dim(texts[0]!.slice(11, 23))
  const middle = isOfMany ? `${padTo(texts[1]!, 45)}  ` : ''
  const kind = padTo(event.kind, 12)
  const used = 12 + 2 + (isOfMany ? 47 : 0) + Math.max(12, event.kind.length) + 2
  const detail = cut(texts.at(-1)!, Math.max(10, out.width - used))
  out.line(`${time}  ${middle}${paintOf(event, cli)(kind)}  ${detail}`.trimEnd())
}

export function detailOf(event: LogEvent): string {
  const { outcome, reason, workerInstanceId, leaseEpoch, leaseEffect, attemptIndex, actor } = event
  const parts = [
    outcome,
    reason,
    attemptIndex !== null && attemptIndex > 0 && leaseEffect === 'acquired' ? `attempt ${attemptIndex + 1}` : null,
    leaseEffect === 'reclaimed' ? 'taken over' : null,
    workerInstanceId === null ? null : `by ${workerInstanceId}${leaseEpoch === null ? '' : ` (epoch ${leaseEpoch})`}`,
    workerInstanceId === null && actor !== 'local' ? `by ${actor}` : null,
  ]
  return parts.filter((part) => part !== null && part !== '').join(' ')
}

function paintOf(event: LogEvent, cli: Cli): (text: string) => string {
  const { colours } = cli.out
  if (event.kind === 'ended' || event.kind === 'flow_ended') {
    return event.outcome === 'success' || event.outcome === null ? colours.green : colours.red
  }
  if (event.kind === 'lapsed' || event.kind === 'warned' || event.kind === 'retried') return colours.yellow
  return colours.cyan
}
