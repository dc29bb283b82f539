// Prints one execution: its state and the explanation, then its history, each part as a table.
import type { Attempt } from '../engine/attempt/list.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { ExecutionInput } from '../engine/execution/input.ts'
import type { ExecutionResult } from '../engine/execution/result.ts'
import type { Execution } from '../engine/execution/snapshot.ts'
import type { Step } from '../engine/step/step.ts'
import type { Waitpoint } from '../engine/waiting/waitpoint/list.ts'
import type { Explanation } from '../model/explain.ts'
import { errorLine, readError } from './show-error.ts'
import { asFact } from './show-value.ts'
import { attemptWord } from './state-words.ts'
import { detailOf } from './follow.ts'
import { bare, bareIds } from './ids.ts'
import { stateColour, type Column, type Printer } from './print.ts'
import { harmless } from './text.ts'
import { clockTime, instant, relative, span } from './time.ts'
import { inShort } from './value.ts'

export interface Described {
  readonly execution: Execution
  readonly explanation: Explanation | null
  readonly input: ExecutionInput | null
  readonly result: ExecutionResult | null
}

export function showFacts(out: Printer, described: Described, now: number): void {
  const { execution, explanation, input, result } = described
  const { publicState, lease, progress, policy } = execution
  const state = stateColour(publicState, out.colours)(publicState)
  out.line(`${out.colours.bold(harmless(execution.kind))}  ${state}  ${out.colours.dim(bare(execution.executionId))}`)
  if (explanation !== null) out.sentence(explanation.sentence)
  out.line()
  const time = (at: number | null): string | null => (at === null ? null : `${instant(at)} (${relative(at, now)})`)
  const tags = Object.entries(execution.tags).map(([key, value]) => `${key}=${value}`)
  out.facts([
    ['namespace', execution.namespace],
    ['lane', execution.lane],
    ['version', execution.version],
    ['priority', String(execution.priority)],
    ['tags', tags.length === 0 ? null : tags.join(' ')],
    ['needs', execution.requiredCapabilities.length === 0 ? null : execution.requiredCapabilities.join(' ')],
    ['key', execution.idempotencyKey],
    ['flow', execution.flowId === null ? null : bare(execution.flowId)],
    ['parent', execution.parentId === null ? null : bare(execution.parentId)],
    ['input', input === null ? null : asFact(out, { bytes: input.payload, encoding: input.encoding })],
    ['created', `${time(execution.createdAt)} by ${execution.creator}`],
    ['started', time(execution.startedAt)],
    ['ended', time(execution.endedAt)],
    [
      'took',
      execution.startedAt === null || execution.endedAt === null ? null : span(execution.endedAt - execution.startedAt),
    ],
    ['delayed until', time(execution.delayUntil)],
    ['deadline', time(execution.deadlineAt)],
    [
      'held by',
      lease === null ? null : `${lease.workerInstanceId} until ${time(lease.expiresAt)}, epoch ${lease.leaseEpoch}`,
    ],
    [
      'progress',
      progress === null
        ? null
        : [progress.percent === null ? '' : `${progress.percent} %`, progress.message ?? ''].join(' ').trim(),
    ],
    ['attempts', attemptsOf(execution, policy?.retry?.attempts)],
    [
      'generation',
      execution.generation === 0 ? null : `${execution.generation} (replayed ${execution.replayCount} times)`,
    ],
    ['reason', reasonOf(execution)],
    ['cancelled by', execution.cancelledBy],
    ['compensation', execution.compensation === 'none' ? null : execution.compensation],
    ['result', result?.kind === 'completed' ? asFact(out, { bytes: result.result, encoding: result.encoding }) : null],
  ])
  const ways = explanation?.ways ?? []
  if (ways.length > 0 && out.isTerminal) out.line(`\n${out.colours.dim('To change this:')}`)
  if (out.isTerminal) for (const way of ways) out.paragraph(asTyped(way), '  ')
}

function reasonOf({ failureReason, cancellationReason }: Execution): string | null {
  const reason = failureReason ?? cancellationReason
  return reason === null ? null : bareIds(reason)
}

/** Replaces an API call by the command to type. */
function asTyped(way: string): string {
  return way.replace(/,? with executions\.(\w+)/, ': flowfabric $1')
}

function attemptsOf({ totalAttemptCount, leaseReclaimCount }: Execution, most: number | undefined): string | null {
  if (totalAttemptCount === 0) return null
  const bound = most === undefined ? '' : ` of ${most}`
  const lost = leaseReclaimCount === 0 ? '' : `, ${leaseReclaimCount} leases lost`
  return `${totalAttemptCount}${bound}${lost}`
}

export function showWaitpoints(out: Printer, waitpoints: readonly Waitpoint[], now: number): void {
  if (waitpoints.length === 0) return
  out.heading('Waitpoints')
  const columns: Column<Waitpoint>[] = [
    { title: 'KEY', of: (row) => row.key },
    { title: 'WAITPOINT', of: (row) => bare(row.waitpointId) },
    { title: 'STATE', of: (row) => row.state },
    { title: 'SIGNALS', of: (row) => String(row.signalCount), align: 'right' },
    { title: 'SINCE', of: (row) => relative(row.createdAt, now), align: 'right' },
  ]
  out.table(columns, waitpoints)
}

export function showSteps(out: Printer, steps: readonly Step[], limit: number): void {
  if (steps.length === 0) return
  heading(out, 'Steps', steps, limit)
  const columns: Column<Step>[] = [
    { title: '#', of: (row) => String(row.number), align: 'right' },
    { title: 'STEP', of: (row) => (row.index === 0 ? row.name : `${row.name} (${row.index + 1})`) },
    { title: 'KIND', of: (row) => row.kind },
    { title: 'STATE', of: (row) => row.state, paint: (row, c) => paintOfStep(row.state, c) },
    { title: 'TRIES', of: (row) => String(row.tryCount), align: 'right' },
    { title: 'TOOK', of: (row) => (row.durationMs === null ? '' : span(row.durationMs)), align: 'right' },
    { title: 'RESULT', of: resultOf, gives: true },
  ]
  out.table(columns, lastOf(steps, limit))
}

function resultOf({ state, result, resultEncoding }: Step): string {
  const error = state === 'succeeded' ? null : readError(result, resultEncoding)
  return error === null ? inShort(result, resultEncoding) : errorLine(error)
}

function paintOfStep(state: string, colours: Printer['colours']): (text: string) => string {
  if (state === 'succeeded') return colours.green
  if (state === 'abandoned') return colours.dim
  return state === 'failed' || state === 'timed_out' ? colours.red : colours.yellow
}

export function showAttempts(out: Printer, attempts: readonly Attempt[], limit: number, now: number): void {
  if (attempts.length === 0) return
  heading(out, 'Attempts', attempts, limit)
  const columns: Column<Attempt>[] = [
    { title: '#', of: (row) => String(row.attemptIndex + 1), align: 'right' },
    { title: 'TYPE', of: (row) => row.type },
    { title: 'OUTCOME', of: (row) => attemptWord(row.outcome) },
    { title: 'STARTED', of: (row) => clockTime(row.startedAt, now) },
    { title: 'TOOK', of: (row) => (row.endedAt === null ? '' : span(row.endedAt - row.startedAt)), align: 'right' },
    { title: 'WORKER', of: (row) => row.workerInstanceId ?? '', gives: true },
    { title: 'WHY', of: (row) => bareIds(row.failureReason ?? ''), gives: true },
  ]
  out.table(columns, lastOf(attempts, limit))
}

export function showEvents(out: Printer, events: readonly LogEvent[], limit: number, now: number): void {
  if (events.length === 0) return
  heading(out, 'Timeline', events, limit)
  const start = events[0]!.occurredAt
  const columns: Column<LogEvent>[] = [
    { title: 'TIME', of: (row) => clockTime(row.occurredAt, now) },
    { title: 'AFTER', of: (row) => `+${span(row.occurredAt - start)}`, align: 'right' },
    { title: 'EVENT', of: (row) => row.kind },
    { title: 'WHAT', of: detailOf, gives: true },
  ]
  out.table(columns, lastOf(events, limit))
}

function heading(out: Printer, title: string, rows: readonly unknown[], limit: number): void {
  out.heading(rows.length > limit ? `${title} (the last ${limit} of ${rows.length})` : title)
}

function lastOf<Row>(rows: readonly Row[], limit: number): readonly Row[] {
  return limit === 0 ? [] : rows.slice(-limit)
}
