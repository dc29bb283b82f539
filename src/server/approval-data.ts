// The input of an execution as the approval page shows it. The input comes from others, so its size and depth are
// checked before it is formatted: indentation turns 156 KB of nested JSON into a gigabyte (measured).
import { limits } from '../model/limits.ts'
import { visible } from '../model/text.ts'

export interface ShownData {
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
}

export function dataOf({ payload, payloadEncoding }: ShownData): string {
  if (payload === null) return 'none'
  if (payloadEncoding !== 'json') return `${payload.byteLength} bytes of ${payloadEncoding ?? 'an unknown encoding'}`
  const { pageDataBytes } = limits
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, Math.min(payload.byteLength, pageDataBytes))
  const text = bytes.toString('utf8')
  const more = payload.byteLength - bytes.byteLength
  if (more > 0) return `${visible(text)}\n(${more} more bytes)`
  return visible(formatted(text) ?? text)
}

/** Null for a text that is not JSON, is too deep, or would be too long; the page then shows the text itself. */
function formatted(text: string): string | null {
  if (isDeeper(text, limits.pageDataDepth)) return null
  try {
    const formatted = JSON.stringify(JSON.parse(text), null, 2)
    return formatted.length <= limits.pageDataBytes ? formatted : null
  } catch {
    return null
  }
}

/** Brackets within strings count too: the page then shows the text as it is. */
function isDeeper(text: string, most: number): boolean {
  let depth = 0
  for (const character of text) {
    if (character === '[' || character === '{') depth += 1
    if (character === ']' || character === '}') depth -= 1
    if (depth > most) return true
  }
  return false
}
