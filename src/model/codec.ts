// The engine stores bytes and never reads them; a codec converts values to bytes and back, on the caller's side.
import { EngineError, refusal } from './errors.ts'
import { limits } from './limits.ts'
import { refuseLossy } from './storable.ts'
import { show } from './text.ts'

export interface Encoded {
  readonly bytes: Uint8Array
  readonly encoding: string
}

export interface Codec {
  encode(value: unknown): Encoded
  decode(encoded: Encoded): unknown
  /**
   * Whether the message of a thrown error may also be stored in plain text, as the reason of a failure that lists and
   * `explain` show. Defaults to false, because a codec may exist to hide what it encodes.
   */
  readonly plainReasons?: boolean
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** JSON; bytes stay as they are. Refuses a Map, a Set, an instance of a class without toJSON and a function: JSON would lose them. */
export const jsonCodec: Codec = {
  plainReasons: true,
  encode(value) {
    if (value instanceof Uint8Array) return { bytes: value, encoding: 'bytes' }
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) {
      const found = typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`
      throw new EngineError('invalid_input', `it is ${found}, which JSON cannot store; use null instead`)
    }
    if (typeof value === 'object' && value !== null) refuseLossy(value)
    return { bytes: encoder.encode(text), encoding: 'json' }
  },
  decode({ bytes, encoding }) {
    if (encoding === 'json') return JSON.parse(decoder.decode(bytes))
    if (encoding === 'bytes') return bytes
    throw new EngineError('invalid_input', `the bytes are encoded as '${encoding}'; the JSON codec reads 'json'`, {
      encoding,
    })
  },
}

/** Undefined is stored without bytes. The error for a value that cannot be encoded names `what`. */
export function encodeValue(codec: Codec, what: string, value: unknown): Encoded | null {
  if (value === undefined) return null
  try {
    return checkEncoded(codec.encode(value))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EngineError('invalid_input', `${what} cannot be encoded: ${why}`, { what }, { cause })
  }
}

/**
 * Refuses a value that is larger than a payload may be, where it is made: the engine would refuse it after the send.
 */
export function checkSize(what: string, encoded: Encoded | null): Encoded | null {
  const bytes = encoded?.bytes.byteLength ?? 0
  if (bytes <= limits.payloadBytes) return encoded
  const sentence = `${what} is ${bytes} bytes; at most ${limits.payloadBytes} are stored. Keep it elsewhere and send a reference`
  throw new EngineError('payload_too_large', sentence, { what, bytes, limit: limits.payloadBytes })
}

/** A codec is code of the user, and an async one returns a promise. */
export function checkEncoded(encoded: Encoded): Encoded {
  const { bytes, encoding } = (encoded ?? {}) as Partial<Encoded>
  if (ArrayBuffer.isView(bytes) && typeof encoding === 'string') return encoded
  const found = isPromise(encoded) ? 'a promise' : show(encoded)
  throw new EngineError(
    'invalid_input',
    `the codec returned ${found}; encode must return { bytes, encoding } synchronously`,
  )
}

export function checkCodec(codec: unknown): void {
  const allowed = 'an object with the methods encode and decode'
  if (typeof codec !== 'object' || codec === null) throw refusal('invalid_input', 'codec', show(codec), allowed)
  for (const method of ['encode', 'decode']) {
    const found: unknown = Reflect.get(codec, method)
    if (typeof found !== 'function') throw refusal('invalid_input', 'codec', `without ${method}`, allowed)
  }
  refuseAwaited(codec as Codec)
}

// Refused when the codec is configured, and not when the first run has ended and its result is lost. An error of the
// codec itself is ignored: its keys may not be available yet.
function refuseAwaited(codec: Codec): void {
  let encoded: Encoded
  let decoded: unknown
  try {
    encoded = codec.encode({ name: 'Error', message: 'a probe' })
  } catch {
    return
  }
  checkEncoded(encoded)
  try {
    decoded = codec.decode(encoded)
  } catch {
    return
  }
  if (isPromise(decoded))
    throw new EngineError('invalid_input', 'the codec returned a promise; decode must return the value synchronously')
}

/** The promise is not awaited, so its rejection must not count as unhandled. */
function isPromise(value: unknown): boolean {
  const isOne = typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  if (isOne) Promise.resolve(value).catch(() => {})
  return isOne
}

export function decodeValue(codec: Codec, what: string, bytes: Uint8Array | null, encoding: string | null): unknown {
  if (bytes === null) return undefined
  try {
    return codec.decode({ bytes, encoding: encoding ?? 'json' })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EngineError('invalid_input', `${what} cannot be decoded: ${why}`, { what }, { cause })
  }
}
