// The error of a failed attempt: its message, the frames of the user's code, and the same for its causes.
import type { Attempt } from '../engine/attempt/list.ts'
import type { Execution } from '../engine/execution/snapshot.ts'
import { decodeError, noError, containsMessage, sentenceOf, type RecordedError } from '../model/recorded-error.ts'
import { userFrames } from '../model/stack.ts'
import { bareIds } from './ids.ts'
import type { Printer } from './print.ts'

const mostFrames = 10

/** The last error of this generation, unless the execution has completed afterwards. */
export function showError(out: Printer, execution: Execution, attempts: readonly Attempt[]): void {
  if (execution.publicState === 'completed') return
  const last = attempts.findLast((each) => each.error !== null && each.generation === execution.generation)
  const error = last === undefined ? null : readError(last.error, last.errorEncoding)
  if (error === null) return
  out.heading(execution.publicState === 'failed' ? 'Error' : `Error of attempt ${last!.attemptIndex + 1}`)
  showWithCauses(out, error)
}

/** Null when its codec is not ours. */
export function readError(bytes: Uint8Array | null, encoding: string | null): RecordedError | null {
  if (bytes === null || encoding !== 'json') return null
  try {
    return decodeError({ bytes, encoding })
  } catch {
    return null
  }
}

/** One line for a table; a name without meaning is left out. */
export function errorLine(error: RecordedError): string {
  const sentence = bareIds(sentenceOf(error))
  return error.name === 'Error' || error.name === noError ? sentence : `${error.name}: ${sentence}`
}

function showWithCauses(out: Printer, error: RecordedError): void {
  let above = ''
  for (let each: RecordedError | undefined = error; each !== undefined; each = each.cause) {
    const frames = userFrames(each.stack, each.message)
    // A step's error repeats the message of its cause; the cause then has a line only for its frames.
    const isRepeated = above !== '' && containsMessage(above, each.message)
    if (!isRepeated || frames.length > 0) {
      const head = each.name === noError ? each.message : `${each.name}: ${each.message}`
      out.sentence(above === '' ? head : `caused by ${head}`)
      for (const frame of frames.slice(0, mostFrames)) out.sentence(frame, '    ')
      if (frames.length > mostFrames) out.line(out.colours.dim(`    … ${frames.length - mostFrames} more`))
    }
    above = each.message
  }
  for (const part of error.errors ?? []) out.sentence(`- ${errorLine(part)}`)
}
