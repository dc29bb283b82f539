// Prints an error as a sentence with the next step; `--debug` adds the stack. Wrong usage exits with 2, everything else
// with 1.
import { EngineError } from '../model/errors.ts'
import { bareIds } from './ids.ts'
import type { Printer } from './print.ts'

export const failed = 1
export const wrongUsage = 2

// Not wrong usage, though the value is invalid: a token may have been valid a moment ago.
const notUsage: readonly string[] = ['invalid_token', 'signal_limit_exceeded', 'no_transaction']

export function exitCodeOf(error: unknown): number {
  if (!EngineError.is(error) || notUsage.includes(error.code)) return failed
  return error.status === 400 || error.status === 413 ? wrongUsage : failed
}

/** The engine's errors name API calls; here a person reads the command to type. */
const nextAct: Readonly<Record<string, string>> = {
  schema_missing: 'Run `flowfabric migrate` to create it.',
  schema_outdated: 'Run `flowfabric migrate` to update it.',
  server_unreachable:
    'The URL comes from --url or FLOWFABRIC_URL; `flowfabric dev` and `flowfabric serve` start a server.',
  unauthenticated:
    'Set FLOWFABRIC_TOKEN to an API key; `flowfabric api-key create` with the URL of the database creates one.',
  execution_not_found: '`flowfabric list` shows all executions.',
  flow_not_found: '`flowfabric flow list` shows all flows.',
  schedule_not_found: '`flowfabric schedule list` shows all schedules.',
  waitpoint_not_found:
    '`flowfabric list --state suspended` shows waiting executions, `flowfabric show <id>` what one waits for.',
  api_key_not_found: '`flowfabric api-key list` shows all keys.',
}

export function printFailure(error: unknown, printer: Printer, options: { json: boolean; debug: boolean }): number {
  const { colours } = printer
  if (options.json) printer.line(JSON.stringify({ error: asJson(error) }))
  else {
    const [first = '', ...more] = printer.wrapped(`error: ${bareIds(sentenceOf(error))}`)
    printer.line(first.replace(/^error:/, colours.red('error:')))
    for (const line of more) printer.line(line)
    const next = EngineError.is(error) ? nextAct[error.code] : undefined
    if (next !== undefined) printer.paragraph(next)
  }
  if (options.debug) printer.line(colours.dim(stackOf(error)))
  return exitCodeOf(error)
}

function sentenceOf(error: unknown): string {
  if (!EngineError.is(error)) return error instanceof Error ? error.message : String(error)
  const { code, message } = error
  const inOtherWords = code === 'schema_missing' || code === 'schema_outdated'
  return inOtherWords ? message.replace(/[.;]\s+[Cc]onnect once with migrate: true.*$/s, '.') : message
}

function asJson(error: unknown): unknown {
  if (EngineError.is(error)) return { ...error.toJSON(), message: sentenceOf(error) }
  return { code: 'internal_error', message: sentenceOf(error), retryable: false }
}

function stackOf(error: unknown): string {
  const stacks: string[] = []
  let each = error
  while (each instanceof Error && stacks.length < 10) {
    stacks.push(each.stack ?? each.message)
    each = each.cause
  }
  return stacks.join('\ncaused by ')
}
