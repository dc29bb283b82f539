// A condition in words, for a sentence that ends in "waiting for ...".
import type { Condition, CountCondition, SignalCondition } from './condition.ts'

// A longer list would not be read.
const mostMembers = 5

export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'signal':
      return `a signal${named(condition)}${through(condition.waitpoint === undefined ? [] : [condition.waitpoint])}`
    case 'count':
      return countText(condition)
    case 'operator':
      return 'an operator to resume it'
    case 'timeout':
      return 'its timeout'
    case 'child':
      return `child ${condition.executionId} to end`
    case 'time':
      return `the time ${new Date(condition.at).toISOString()}`
    case 'allOf':
      return membersText('all of', condition.members)
    case 'anyOf':
      return membersText('one of', condition.members)
  }
}

const differing = {
  sources: ' from different sources',
  waitpoints: ' through different waitpoints',
  signals: '',
} as const

function countText(condition: CountCondition): string {
  const { n, distinct, waitpoints = [] } = condition
  const what = n === 1 ? 'a signal' : `${n} signals`
  return `${what}${named(condition)}${differing[distinct]}${through(waitpoints)}`
}

function named({ name }: SignalCondition | CountCondition): string {
  return name === undefined ? '' : ` named '${name}'`
}

function through(waitpoints: readonly string[]): string {
  if (waitpoints.length === 0) return ''
  const names = waitpoints.map((waitpoint) => `'${waitpoint}'`)
  return names.length === 1 ? ` at waitpoint ${names[0]}` : ` at waitpoints ${listed(names)}`
}

function membersText(how: string, members: readonly Condition[]): string {
  if (members.length === 1) return conditionText(members[0]!)
  return `${how} (${listed(members.map(conditionText))})`
}

function listed(texts: readonly string[]): string {
  if (texts.length <= mostMembers) return texts.join(', ')
  return `${texts.slice(0, mostMembers).join(', ')} and ${texts.length - mostMembers} more`
}
