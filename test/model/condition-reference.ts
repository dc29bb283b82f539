// The meaning of a condition, written as plainly as possible: yes or no, without the time or the cause.
import type { ConditionInput } from '../../src/model/condition-evaluate.ts'
import type { ConditionSignal } from '../../src/model/condition-match.ts'
import type { Condition, SignalMatcher } from '../../src/model/condition.ts'
import type { Json } from '../../src/model/json.ts'
import type { Predicate } from '../../src/model/predicate.ts'

export function holds(condition: Condition, facts: ConditionInput): boolean {
  const fitting = (doors: readonly string[] | undefined, matcher: SignalMatcher) =>
    facts.signals.filter((signal) => comesIn(signal, doors) && matches(signal, matcher))
  switch (condition.kind) {
    case 'operator':
      return false
    case 'timeout':
      return facts.timedOutAt !== undefined
    case 'time':
      return condition.at <= facts.now
    case 'child':
      return facts.childEndings?.has(condition.executionId) ?? false
    case 'signal':
      return fitting(condition.waitpoint === undefined ? undefined : [condition.waitpoint], condition).length > 0
    case 'count': {
      const counted = fitting(condition.waitpoints, condition).map((signal) => {
        if (condition.distinct === 'signals') return signal.id
        if (condition.distinct === 'waitpoints') return signal.waitpoint
        return `${signal.source.type}/${signal.source.identity}`
      })
      return new Set(counted).size >= condition.n
    }
    case 'allOf':
      return !condition.members.some((member) => !holds(member, facts))
    case 'anyOf':
      return condition.members.some((member) => holds(member, facts))
  }
}

function comesIn({ waitpoint }: ConditionSignal, doors: readonly string[] | undefined): boolean {
  return doors === undefined ? waitpoint === undefined : waitpoint !== undefined && doors.includes(waitpoint)
}

function matches(signal: ConditionSignal, { name, source, payload }: SignalMatcher): boolean {
  return (
    (name ?? signal.name) === signal.name &&
    (source?.type ?? signal.source.type) === signal.source.type &&
    (source?.identity ?? signal.source.identity) === signal.source.identity &&
    (payload === undefined || (signal.payload !== undefined && says(signal.payload, payload)))
  )
}

export function says(payload: Json, predicate: Predicate): boolean {
  if ('allOf' in predicate)
    return predicate.allOf.filter((member) => says(payload, member)).length === predicate.allOf.length
  if ('anyOf' in predicate) return predicate.anyOf.filter((member) => says(payload, member)).length > 0
  if ('not' in predicate) return !says(payload, predicate.not)
  let found: unknown = payload
  for (const step of predicate.path ?? []) {
    const fits = typeof step === 'number' ? Array.isArray(found) : typeof found === 'object' && !Array.isArray(found)
    found = fits && found !== null ? (found as Record<string, unknown>)[step] : undefined
  }
  if ('exists' in predicate) return predicate.exists === (found !== undefined)
  if ('equals' in predicate) return canonical(found) === canonical(predicate.equals)
  if ('oneOf' in predicate) return predicate.oneOf.map(canonical).includes(canonical(found))
  const [word, bound] = Object.entries(predicate).find(([field]) => field !== 'path')!
  if (typeof found !== typeof bound) return false
  const order = (found as number) < (bound as number) ? -1 : found === bound ? 0 : 1
  return { above: order > 0, atLeast: order >= 0, below: order < 0, atMost: order <= 0 }[word] ?? false
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nothing'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`)
  return `{${fields.toSorted().join()}}`
}
