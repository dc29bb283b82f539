import { refusal } from './errors.ts'
import type { ErrorCode } from './errors.ts'

export interface TextRule {
  readonly minBytes?: number
  readonly maxBytes: number
  readonly printableAscii?: boolean
  /** Tabs, line breaks and the like; NUL is refused always. */
  readonly refuseControls?: boolean
  readonly code?: ErrorCode
}

const printableAscii = /^[\x20-\x7e]*$/

/** Refuses text that the database cannot store or the rule does not allow; a length is in bytes of UTF-8. */
export function checkText(field: string, value: unknown, rule: TextRule): string {
  const { minBytes = 0, maxBytes, code = 'invalid_input' } = rule
  // The usual case, which one test covers: no rule refuses these characters, and each is one byte.
  const isPlain = typeof value === 'string' && value.length <= maxBytes && printableAscii.test(value)
  if (isPlain && value.length >= minBytes) return value
  const refuse = (found: string): never => {
    throw refusal(code, field, found, describeRule(rule))
  }
  if (typeof value !== 'string') return refuse(show(value))
  // UTF-8 is never shorter than the number of UTF-16 units, so a huge text is refused without being read.
  if (value.length > maxBytes) return refuse(`at least ${value.length} bytes long`)
  const bytes = Buffer.byteLength(value)
  if (bytes > maxBytes) return refuse(`${bytes} bytes long`)
  if (bytes < minBytes) return refuse(bytes === 0 ? 'empty' : `${bytes} bytes long`)
  if (value.includes('\0')) return refuse(`${show(value)} with a NUL character`)
  if (hasLoneSurrogate(value)) return refuse(`${show(value)} with a lone surrogate`)
  if (rule.printableAscii && !isPlain) return refuse(show(value))
  if (rule.refuseControls && /\p{Cc}/u.test(value)) return refuse(`${show(value)} with a control character`)
  return value
}

function describeRule({ minBytes = 0, maxBytes, printableAscii, refuseControls }: TextRule): string {
  const length = `${minBytes} to ${maxBytes} bytes`
  if (printableAscii) return `${length} of printable ASCII`
  if (refuseControls) return `${length} of text without control characters`
  return `${length} of text`
}

/** Half of a surrogate pair has no UTF-8 form. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

/**
 * A name in the form in which it is compared: compatibility forms, case, spacing and invisible characters do not count,
 * because a reader does not see them.
 */
export function foldName(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
}

/**
 * Invisible characters, and those that reverse the text, are written as their code points; tabs and line breaks stay.
 */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\t\n]/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}

/** A value in an error message: short, on one line, and never the whole of something large. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 79)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? 'a function' : String(value)
  return Array.isArray(value) ? 'an array' : 'an object'
}

/** The allowed words, with the one that was probably meant. */
export function oneOf(found: unknown, words: readonly string[]): string {
  const meant = typeof found === 'string' ? nearest(found, words) : undefined
  return meant === undefined ? `one of ${words.join(', ')}` : `one of ${words.join(', ')}; did you mean ${meant}?`
}

/**
 * The word that was probably meant: a few letters off, otherwise one with the same beginning, such as `retry` for
 * `retires`.
 */
export function nearest(word: string, words: readonly string[]): string | undefined {
  if (word.length > 64) return undefined
  const reach = Math.max(1, Math.floor(word.length / 3))
  const close = least(words, (candidate) => editDistance(word.toLowerCase(), candidate.toLowerCase()))
  if (close !== undefined && close.score <= reach) return close.word
  const alike = least(words, (candidate) => -sharedStart(word, candidate))
  if (close !== undefined && sharedStart(word, close.word) >= 3 && close.score < word.length / 2) return close.word
  return alike !== undefined && -alike.score > word.length / 2 ? alike.word : undefined
}

function least(
  words: readonly string[],
  scoreOf: (word: string) => number,
): { word: string; score: number } | undefined {
  return words.map((word) => ({ word, score: scoreOf(word) })).toSorted((a, b) => a.score - b.score)[0]
}

function sharedStart(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = row[column - 1]! + (from[line - 1] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[column]! + 1, next[column - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
