// Follows events: of one execution until it has ended, or of all of them until Ctrl-C.
import type { Engine } from '../engine/contract.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import { EngineError } from '../model/errors.ts'
import { isEnded } from '../model/state.ts'
import { followTimeline } from '../server/timeline-stream.ts'
import type { Cli } from './cli.ts'
import { bare, bareIds } from './ids.ts'
import { outcomeWord } from './state-words.ts'
import { everyRow } from './pages.ts'
import { cut, harmless, padTo } from './text.ts'
import { instant } from './time.ts'

const pageSize = 1000

/** Prints its past events, then new ones. True when it has ended. */
export async function follow(cli: Cli, engine: Engine, executionId: string): Promise<boolean> {
  const signal = cli.host.interruption?.()
  const found = await engine.executions.describe(executionId)
  if (found === null) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  // An ending is written with its event, so an execution that had ended before has no further events, or the log no
  // longer has them.
  if (isEnded(found.publicState)) {
    for await (const event of timelineOf(engine, executionId)) printEvent(cli, event, false)
    return true
  }
  const until = signal === undefined ? {} : { signal }
  for await (const event of await followTimeline(engine, executionId, { limit: pageSize }, until)) {
    if (event.kind === 'truncated') continue
    printEvent(cli, event, false)
    // Endings before a replay are history.
    if (event.kind === 'ended' && (event.generation ?? 0) >= found.generation) return true
  }
  return false
}

function timelineOf(engine: Engine, executionId: string): AsyncGenerator<LogEvent> {
  return everyRow(async (from) => {
    const { events, nextCursor } = await engine.events.timeline(executionId, { limit: pageSize, ...from })
    return { rows: events, nextCursor }
  })
}

/** One line: the time, the execution, the event. */
export function printEvent(cli: Cli, event: LogEvent, isOfMany: boolean): void {
  if (cli.json) return cli.out.line(JSON.stringify(event))
  const { out } = cli
  const whose = bare(event.executionId ?? event.flowId ?? '')
  const texts = [instant(event.occurredAt), ...(isOfMany ? [whose] : []), event.kind, detailOf(event)].map(harmless)
  if (!out.isTerminal) return out.line(texts.join('\t'))
  const { colours } = out
  const time = colours.dim(texts[0]!.slice(11, 23))
  const middle = isOfMany ? `${padTo(texts[1]!, 36)}  ` : ''
  const kind = padTo(event.kind, 12)
  const used = 12 + 2 + (isOfMany ? 38 : 0) + Math.max(12, event.kind.length) + 2
  const detail = cut(texts.at(-1)!, Math.max(10, out.width - used))
  out.line(`${time}  ${middle}${paintOf(event, cli)(kind)}  ${detail}`.trimEnd())
}

export function detailOf(event: LogEvent): string {
  const { outcome, reason, workerInstanceId, leaseEpoch, leaseEffect, attemptIndex, actor } = event
  const parts = [
    outcome === null ? null : outcomeWord(outcome),
    event.kind === 'signalled' ? signalOf(event) : reason === null ? null : bareIds(reason),
    attemptIndex !== null && attemptIndex > 0 && leaseEffect === 'acquired' ? `attempt ${attemptIndex + 1}` : null,
    leaseEffect === 'reclaimed' ? 'taken over' : null,
    workerInstanceId === null ? null : `by ${workerInstanceId}${leaseEpoch === null ? '' : ` (epoch ${leaseEpoch})`}`,
    workerInstanceId === null && actor !== 'local' ? `by ${actor}` : null,
  ]
  return parts.filter((part) => part !== null && part !== '').join(' ')
}

function signalOf({ details }: LogEvent): string {
  const { signalName, effect } = details as { readonly signalName: string; readonly effect: string }
  return `${JSON.stringify(signalName)} ${effect}`
}

function paintOf(event: LogEvent, cli: Cli): (text: string) => string {
  const { colours } = cli.out
  if (event.kind === 'ended' || event.kind === 'flow_ended') {
    return event.outcome === 'success' || event.outcome === null ? colours.green : colours.red
  }
  if (event.kind === 'lapsed' || event.kind === 'warned' || event.kind === 'retried') return colours.yellow
  return colours.cyan
}
