// Which signals match which node, one at a time.
import { waitpointsOf } from './condition.ts'
import type { CountCondition, SignalCondition, SignalMatcher } from './condition.ts'
import type { Json } from './json.ts'
import { fulfils } from './predicate.ts'
import { sourceKey, type SignalSource } from './signal.ts'

/** A signal as the evaluation uses it. */
export interface ConditionSignal {
  readonly id: string
  readonly name: string
  /** The proved source. */
  readonly source: SignalSource
  /** The key of the waitpoint through which it was sent; absent for a signal by name. */
  readonly waitpoint?: string
  /** Absent without a payload, or with one that is not JSON. */
  readonly payload?: Json
  readonly acceptedAt: number
}

/** The channels from which the node takes signals: waitpoints, or the name. A signal is sent through one of them. */
export function channelsOf(node: SignalCondition | CountCondition): readonly string[] {
  const waitpoints = waitpointsOf(node)
  if (waitpoints.length > 0) return waitpoints.map(waitpointChannel)
  return node.name === undefined ? [] : [nameChannel(node.name)]
}

export function channelOf({ waitpoint, name }: ConditionSignal): string {
  return waitpoint === undefined ? nameChannel(name) : waitpointChannel(waitpoint)
}

const waitpointChannel = (key: string) => `waitpoint ${key}`
const nameChannel = (name: string) => `name ${name}`

export function fits({ name, source, payload }: ConditionSignal, matcher: SignalMatcher): boolean {
  if (matcher.name !== undefined && matcher.name !== name) return false
  if (matcher.source?.type !== undefined && matcher.source.type !== source.type) return false
  if (matcher.source?.identity !== undefined && matcher.source.identity !== source.identity) return false
  return matcher.payload === undefined || fulfils(payload, matcher.payload)
}

/** Of signals with the same counted value only the first counts; a leaf counts one signal. */
export function firstOfEach(
  node: SignalCondition | CountCondition,
  signals: readonly ConditionSignal[],
): ConditionSignal[] {
  const firsts = new Map<string, ConditionSignal>()
  for (const signal of signals) {
    const thing = thingOf(node, signal)
    if (thing !== undefined && !firsts.has(thing)) firsts.set(thing, signal)
  }
  return [...firsts.values()]
}

function thingOf(node: SignalCondition | CountCondition, signal: ConditionSignal): string | undefined {
  if (node.kind === 'signal') return 'leaf'
  switch (node.distinct) {
    case 'signals':
      return signal.id
    case 'waitpoints':
      return signal.waitpoint
    case 'sources':
      return sourceKey(signal.source)
    default:
      return undefined
  }
}

/** The order in which signals were accepted; within one millisecond by their ids, which ascend. */
export function byAcceptance(a: ConditionSignal, b: ConditionSignal): number {
  if (a.acceptedAt !== b.acceptedAt) return a.acceptedAt - b.acceptedAt
  return Number(a.id > b.id) - Number(a.id < b.id)
}
