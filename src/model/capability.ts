import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { hasLoneSurrogate, show } from './text.ts'

/** The wire words of `details.why`. */
type CapabilityFault =
  | 'not_array'
  | 'non_string_token'
  | 'empty_token'
  | 'comma_in_token'
  | 'control_or_whitespace'
  | 'lone_surrogate'
  | 'too_many_tokens'
  | 'too_many_bytes'

/** Sorted by bytes and without repeats, so that equal sets are equal lists; absent means none. */
export function parseCapabilities(value: unknown): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value))
    return refuse('not_array', `capabilities are ${show(value)}; they must be an array of strings`)
  // Checked before repeats are dropped: the limit bounds the work of the check itself.
  if (value.length > limits.capabilityCount) {
    const allowed = `at most ${limits.capabilityCount}`
    return refuse('too_many_tokens', `${value.length} capabilities are given; ${allowed} are allowed`)
  }
  const tokens = [...new Set(Array.from(value as unknown[], checkToken))].sort(byBytes)
  const bytes = Buffer.byteLength(tokens.join(','))
  if (bytes > limits.capabilityListBytes) {
    const allowed = `at most ${limits.capabilityListBytes}`
    return refuse('too_many_bytes', `capabilities are ${bytes} bytes, joined by commas; ${allowed} are allowed`)
  }
  return tokens
}

function checkToken(token: unknown): string {
  if (typeof token !== 'string') return refuse('non_string_token', `capability is ${show(token)}; it must be a string`)
  if (token === '') return refuse('empty_token', 'a capability is empty; remove it')
  if (token.includes(','))
    return refuse('comma_in_token', `capability ${show(token)} has a comma; pass two capabilities instead`)
  if (!/^[!-~\u0080-\uffff]*$/.test(token)) {
    return refuse('control_or_whitespace', `capability ${show(token)} has a space or control character; remove it`)
  }
  if (hasLoneSurrogate(token)) {
    return refuse('lone_surrogate', `capability ${show(token)} has a lone surrogate; it must be well-formed text`)
  }
  return token
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function refuse(why: CapabilityFault, message: string): never {
  throw new EngineError('invalid_capabilities', message, { field: 'capabilities', why })
}
