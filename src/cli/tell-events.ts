// What happens, a line each, with what the execution is: for whoever sits before `flowfabric dev`.
import type { Engine } from '../engine/contract.ts'
import type { EventKind, LogEvent } from '../engine/event/log-event.ts'
import type { Cli } from './cli.ts'
import { bare, bareIds } from './ids.ts'
import { stateColour, type Colours } from './print.ts'
import { outcomeWord, stateAfter, wayInto } from './state-words.ts'
import { cut, harmless, padTo } from './text.ts'
import { instant } from './time.ts'

// What a reader of the screen need not hear of.
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

export async function tellEvents(cli: Cli, engine: Engine, signal: AbortSignal): Promise<void> {
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

/** Of what is no execution's: `schedule_fired` is a schedule's. */
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

/** The state that `list` shows from now on; else what happened. */
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
