// Prints values of users: on one line if they fit, otherwise as JSON over several lines, shortened. Into a pipe nothing
// is cut.
import type { Printer } from './print.ts'
import { cut, harmless, widthOf } from './text.ts'
import { inShort, readable } from './value.ts'

export interface UserValue {
  readonly bytes: Uint8Array | null
  readonly encoding: string | null
}

const mostLines = 20
// The name of a fact and the space after it.
const margin = 16

/** For a list of facts; null when the value has a section of its own. */
export function asFact(out: Printer, { bytes, encoding }: UserValue): string | null {
  if (bytes === null) return null
  const line = inShort(bytes, encoding)
  return widthOf(harmless(line)) <= out.width - margin ? line : null
}

export function showLongValue(out: Printer, title: string, value: UserValue): void {
  if (value.bytes === null || asFact(out, value) !== null) return
  out.heading(title)
  const lines = JSON.stringify(readable(value.bytes, value.encoding), undefined, 2).split('\n')
  const shown = lines.slice(0, mostLines).map(harmless)
  for (const line of shown) out.line(cut(line, out.width))
  const isCut = shown.some((line) => widthOf(line) > out.width)
  if (lines.length <= mostLines && !isCut) return
  const rest = lines.length <= mostLines ? '' : `${lines.length - mostLines} more lines; `
  out.line(out.colours.dim(`… ${rest}--json prints all ${value.bytes.length} bytes`))
}
