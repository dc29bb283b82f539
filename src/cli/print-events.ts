// Prints a line for each event, with the kind of the execution: for `flowfabric dev`.
import type { Engine } from '../engine/contract.ts'
import type { EventKind, LogEvent } from '../engine/event/log-event.ts'
import type { Cli } from './cli.ts'
import { bare, bareIds } from './ids.ts'
import { stateColour, type Colours } from './print.ts'
import { outcomeWord, stateAfter, wayInto } from './state-words.ts'
import { cut, harmless, padTo } from './text.ts'
import { instant } from './time.ts'

// Events that are not printed.
const quiet: readonly string[] = [
  'renewed',
  'worker_registered',
  'worker_marked_dead',
  'unblocked',
  'flow_changed',
  'api_key_created',
  'key_rotated',
]
const mostKinds = 1000

export async function printEvents(cli: Cli, engine: Engine, signal: AbortSignal): Promise<void> {
  const kinds = new Map<string, string>()
  const kindOf = async ({ executionId, kind: eventKind }: LogEvent): Promise<string> => {
    if (executionId === null) return nounOf(eventKind)
    const known = kinds.get(executionId)
    if (known !== undefined) return known
    const kind = (await engine.executions.describe(executionId))?.kind ?? '?'
    if (kinds.size >= mostKinds) kinds.clear()
    kinds.set(executionId, kind)
    return kind
  }
  for await (const event of await engine.events.subscribe({ signal })) {
    if (event.kind === 'truncated' || quiet.includes(event.kind)) continue
    if (cli.json) cli.out.line(JSON.stringify(event))
    else print(cli, event, await kindOf(event))
  }
}

/** The noun of an event without an execution: `schedule_fired` belongs to a schedule. */
function nounOf(eventKind: EventKind): string {
  const [noun] = /^(flow|worker|schedule|api_key|key)(?=_)/.exec(eventKind) ?? ['']
  return noun.replace('_', ' ')
}

function print({ out }: Cli, event: LogEvent, kind: string): void {
  const { colours } = out
  const id = bare(event.executionId ?? event.flowId ?? '')
  const time = colours.dim(instant(event.occurredAt).slice(11, 23))
  const what = paintOf(event, colours)(padTo(wordOf(event), 12))
  const detail = [wayInto(event), bareIds(event.reason ?? '')].filter((part) => part !== '').join(': ')
  const shown = cut(harmless(detail), Math.max(0, out.width - 86))
  out.line(`${time}  ${padTo(cut(harmless(kind), 16), 16)}  ${what}  ${colours.dim(padTo(id, 36))}  ${shown}`.trimEnd())
}

/** The state that `list` shows from now on, or the event itself. */
function wordOf(event: LogEvent): string {
  const ended = event.outcome === null ? null : outcomeWord(event.outcome)
  return (
    stateAfter(event) ?? ended ?? event.kind.replace(/^(flow|worker|schedule|api_key|key)_/, '').replaceAll('_', ' ')
  )
}

function paintOf(event: LogEvent, colours: Colours): (text: string) => string {
  const { kind, outcome } = event
  if (kind === 'retried' || kind === 'lapsed') return colours.yellow
  const state = outcome === null ? stateAfter(event) : outcomeWord(outcome)
  return state === null ? colours.cyan : stateColour(state, colours)
}
