// The recorded steps and the timeline of a run, for a test to read and to compare with its expectation.
import { AssertionError } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import type { Engine } from '../engine/contract.ts'
import type { EventKind, LogEvent } from '../engine/event/log-event.ts'
import type { Step } from '../engine/step/step.ts'
import { decodeValue, type Codec } from '../model/codec.ts'
import type { ExecutionId } from '../model/id.ts'
import { decodeError, type RecordedError } from '../model/recorded-error.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import type { StepKind, StepState } from '../model/step.ts'

export interface RecordedStep {
  readonly kind: StepKind
  readonly name: string
  /** Counts steps of one name, from 0, in the order of their first use. */
  readonly index: number
  readonly state: StepState
  readonly tries: number
  /** The result; undefined if the step has failed or is not over. */
  readonly value: unknown
  /** The failure of its last try. */
  readonly error: RecordedError | null
}

/** The name of a step, or the fields to compare. */
export type ExpectedStep = string | Partial<RecordedStep>

const fieldNames = ['kind', 'name', 'index', 'state', 'tries', 'value', 'error'] as const

export class RunHistory {
  /** The steps of the current generation, in the order of their records. */
  readonly steps: readonly RecordedStep[]
  /** Oldest first. */
  readonly timeline: readonly LogEvent[]

  constructor(steps: readonly RecordedStep[], timeline: readonly LogEvent[]) {
    this.steps = steps
    this.timeline = timeline
  }

  /** All of them, in this order: `['create account', { name: 'charge card', tries: 2 }]`. */
  assertSteps(expected: readonly ExpectedStep[]): void {
    const wanted = expected.map((each) => (typeof each === 'string' ? { name: each } : each))
    for (const each of wanted) refuseUnknownFields('assertSteps', each, fieldNames)
    const count = Math.max(wanted.length, this.steps.length)
    for (let place = 0; place < count; place += 1) {
      const [want, found] = [wanted[place], this.steps[place]]
      if (want !== undefined && found !== undefined && fits(want, found)) continue
      throw this.#differs('steps', place, wanted.map(shownExpectation), this.steps.map(shownStep))
    }
  }

  /** All events, in this order. Lease renewals are ignored. */
  assertTimeline(expected: readonly EventKind[]): void {
    const found = this.timeline.map(({ kind }) => kind).filter((kind) => kind !== 'renewed')
    const place = Array.from({ length: Math.max(expected.length, found.length) }).findIndex(
      (_, index) => expected[index] !== found[index],
    )
    if (place >= 0) throw this.#differs('timeline', place, expected, found)
  }

  #differs(what: string, place: number, expected: readonly string[], found: readonly string[]): AssertionError {
    const message = [
      `the ${what} differ${what === 'timeline' ? 's' : ''} at ${place + 1}: expected ${expected[place] ?? 'nothing more'}, found ${found[place] ?? 'nothing more'}`,
      'expected:',
      ...listed(expected, place),
      'found:',
      ...listed(found, place),
    ].join('\n')
    return new AssertionError({ message, expected, actual: found, operator: 'deepStrictEqual' })
  }

  /** For people to read. */
  toString(): string {
    const events = this.timeline.map(({ kind, outcome, reason }) =>
      [kind, outcome, reason].filter((word) => word !== null).join(' '),
    )
    return ['steps:', ...listed(this.steps.map(shownStep)), 'timeline:', ...listed(events)].join('\n')
  }
}

export async function readHistory(engine: Engine, codec: Codec, id: ExecutionId): Promise<RunHistory> {
  const steps: RecordedStep[] = []
  const timeline: LogEvent[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Awaited<ReturnType<typeof engine.steps.list>> = await engine.steps.list(id, from(cursor))
    steps.push(...page.steps.map((step) => recordedStep(step, codec)))
    cursor = page.nextCursor
  }
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Awaited<ReturnType<typeof engine.events.timeline>> = await engine.events.timeline(id, from(cursor))
    timeline.push(...page.events)
    cursor = page.nextCursor
  }
  return new RunHistory(steps, timeline)
}

function from(cursor: string): { limit: number; cursor?: string } {
  return { limit: 1000, ...(cursor !== '' && { cursor }) }
}

function recordedStep(step: Step, codec: Codec): RecordedStep {
  const { kind, name, index, state, tryCount, result, resultEncoding } = step
  const isOver = state === 'succeeded'
  const canFail = kind === 'step' || kind === 'compensation' || kind === 'hook'
  const hasError = !isOver && canFail && result !== null
  return {
    kind,
    name,
    index,
    state,
    tries: tryCount,
    value: isOver ? decodeValue(codec, `the result of ${name}`, result, resultEncoding) : undefined,
    error: hasError ? decodeError({ bytes: result, encoding: resultEncoding ?? 'json' }, codec) : null,
  }
}

function fits(expected: Partial<RecordedStep>, found: RecordedStep): boolean {
  return fieldNames.every((name) => !(name in expected) || isDeepStrictEqual(found[name], expected[name]))
}

function shownExpectation(expected: Partial<RecordedStep>): string {
  const { kind = '', name = '', ...rest } = expected
  const fields = Object.entries(rest).map(([field, value]) => `${field} ${JSON.stringify(value)}`)
  return [`${kind} ${JSON.stringify(name)}`.trim(), ...fields].join(', ')
}

function shownStep({ kind, name, index, state, tries, value }: RecordedStep): string {
  const which = index === 0 ? '' : ` (${index + 1})`
  const tried = tries > 1 ? `, tries ${tries}` : ''
  const gave = value === undefined ? '' : `, value ${JSON.stringify(value)}`
  return `${kind} ${JSON.stringify(name)}${which}: ${state}${tried}${gave}`
}

function listed(lines: readonly string[], marked?: number): string[] {
  if (lines.length === 0) return ['    nothing']
  return lines.map((line, index) => `  ${index === marked ? '>' : ' '} ${index + 1}. ${line}`)
}
