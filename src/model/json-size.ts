// The size of a JSON document after parsing: a few bytes make an object, so a small text can fill the memory. One pass
// over the bytes that creates no object, and stops at the first exceeded limit. The parser decides whether the text is
// valid JSON.
import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { tooManyItems } from './sets.ts'

const [space, quote, backslash, comma] = [0x20, 0x22, 0x5c, 0x2c] as const
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d] as const

/** `mostItems` is the limit of an array that is a field of the outermost object. */
export function refuseLargeJson(field: string, bytes: Uint8Array, mostItems: number = Infinity): void {
  let [depth, valueCount, itemCount] = [0, 1, 0]
  let isInList = false
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = endOfText(bytes, at)
        break
      case openArray:
      case openObject:
        depth += 1
        if (depth > limits.bodyDepth) throw tooDeep(field)
        if (!closesNext(bytes, at)) valueCount += 1
        if (valueCount > limits.bodyValueCount) throw tooManyValues(field)
        if (depth === 2) {
          isInList = bytes[at] === openArray
          itemCount = 1
        }
        break
      case closeArray:
      case closeObject:
        depth -= 1
        break
      case comma:
        valueCount += 1
        if (valueCount > limits.bodyValueCount) throw tooManyValues(field)
        if (depth !== 2 || !isInList) break
        itemCount += 1
        if (itemCount > mostItems) throw tooManyItems(`the list in the ${field}`, itemCount, mostItems)
        break
      default:
    }
  }
}

/** Whether the array or object that begins at `start` is empty. */
function closesNext(bytes: Uint8Array, start: number): boolean {
  let at = start + 1
  while (at < bytes.length && bytes[at]! <= space) at += 1
  return bytes[at] === closeArray || bytes[at] === closeObject
}

/** Where the text that begins at `start` ends: at the first quote that no backslash escapes. */
function endOfText(bytes: Uint8Array, start: number): number {
  const near = Math.min(start + shortText, bytes.length)
  let at = start + 1
  while (at < near && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  if (at < near) return at
  const unread = at
  for (;;) {
    at = bytes.indexOf(quote, at)
    if (at < 0) return bytes.length
    let escapes = 0
    while (at - escapes > unread && bytes[at - escapes - 1] === backslash) escapes += 1
    if (escapes % 2 === 0) return at
    at += 1
  }
}

// Longer ones are skipped by native code (measured: a third of the time for payloads of 200 bytes).
const shortText = 24

function tooDeep(field: string): EngineError {
  const sentence = `the ${field} is nested more than ${limits.bodyDepth} levels deep; make it flatter`
  return new EngineError('invalid_input', sentence, { field, limit: limits.bodyDepth })
}

function tooManyValues(field: string): EngineError {
  const sentence = `the ${field} has more than ${limits.bodyValueCount} values; send fewer at a time`
  return new EngineError('payload_too_large', sentence, { field, limit: limits.bodyValueCount })
}
