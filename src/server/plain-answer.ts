// Adds the JSON value to bytes that are JSON, so that people can read responses without decoding base64. The bytes stay
// the exact form; JSON rounds numbers of more than 15 digits.
import type { PlainPart, Route } from '../api/route.ts'
import { parseBytes } from '../api/wire.ts'
import { refuseLargeJson } from '../model/json-size.ts'

/** Changes the response in place; its bytes are base64. */
export function addPlain({ plain = [] }: Route, answer: unknown): void {
  for (const part of plain) {
    for (const holder of holdersAt(answer, part.at === '' ? [] : part.at.split('.'))) addTo(holder, part)
  }
}

type PlainHolder = Record<string, unknown>

function addTo(holder: PlainHolder, { bytes, encoding, as }: PlainPart): void {
  const text = holder[bytes]
  if (typeof text !== 'string' || holder[encoding] !== 'json') return
  const value = parsed(text)
  if (value !== undefined) holder[as] = value
}

/** Undefined for a text that is not JSON, or is nested deeper or has more values than a request may. */
function parsed(base64: string): unknown {
  const bytes = parseBytes(base64)
  if (bytes === null) return undefined
  try {
    refuseLargeJson('payload', bytes)
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function holdersAt(value: unknown, path: readonly string[]): readonly PlainHolder[] {
  if (typeof value !== 'object' || value === null) return []
  const [first, ...rest] = path
  if (first === undefined) return [value as PlainHolder]
  if (first === '*') return (value as readonly unknown[]).flatMap((item) => holdersAt(item, rest))
  return holdersAt((value as PlainHolder)[first], rest)
}
