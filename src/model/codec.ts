// The engine stores bytes and never looks into them; a codec turns values into bytes and back, on the caller's side.
import { EngineError, refusal } from './errors.ts'
import { show } from './text.ts'

export interface Encoded {
  readonly bytes: Uint8Array
  readonly encoding: string
}

export interface Codec {
  encode(value: unknown): Encoded
  decode(encoded: Encoded): unknown
  /**
   * Whether the message of what was thrown may also stand in plain text, as the reason of a failure that lists and `explain` show.
   * Left out: no, because a codec that is given may be there to hide what it encodes.
   */
  readonly plainReasons?: boolean
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** JSON; bytes stay as they are. */
export const jsonCodec: Codec = {
  plainReasons: true,
  encode(value) {
    if (value instanceof Uint8Array) return { bytes: value, encoding: 'bytes' }
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return { bytes: encoder.encode(text), encoding: 'json' }
    throw new EngineError('invalid_input', `a value of type ${typeof value} has no JSON form; send null instead`)
  },
  decode({ bytes, encoding }) {
    if (encoding === 'json') return JSON.parse(decoder.decode(bytes))
    if (encoding === 'bytes') return bytes
    throw new EngineError('invalid_input', `the bytes are encoded as '${encoding}'; the JSON codec reads 'json'`, {
      encoding,
    })
  },
}

/** No bytes at all stand for undefined. What cannot be encoded is told by the name of what it is. */
export function encodeValue(codec: Codec, what: string, value: unknown): Encoded | null {
  if (value === undefined) return null
  try {
    return checkEncoded(codec.encode(value))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EngineError('invalid_input', `${what} cannot be encoded: ${why}`, { what }, { cause })
  }
}

// A codec is somebody else's, and one that must be awaited gives a promise.
function checkEncoded(encoded: Encoded): Encoded {
  const { bytes, encoding } = (encoded ?? {}) as Partial<Encoded>
  if (ArrayBuffer.isView(bytes) && typeof encoding === 'string') return encoded
  const found = encoded instanceof Promise ? 'a promise' : show(encoded)
  throw new EngineError('invalid_input', `the codec gave ${found}; encode gives { bytes, encoding }, and at once`)
}

export function checkCodec(codec: unknown): void {
  const allowed = 'an object with the methods encode and decode'
  if (typeof codec !== 'object' || codec === null) throw refusal('invalid_input', 'codec', show(codec), allowed)
  for (const method of ['encode', 'decode']) {
    const found: unknown = Reflect.get(codec, method)
    if (typeof found !== 'function') throw refusal('invalid_input', 'codec', `without ${method}`, allowed)
  }
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
