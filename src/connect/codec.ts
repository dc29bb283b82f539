// The engine stores bytes and never looks into them; a codec turns values into bytes and back, on the caller's side.
import { EngineError } from '../model/errors.ts'

export interface Encoded {
  readonly bytes: Uint8Array
  readonly encoding: string
}

export interface Codec {
  encode(value: unknown): Encoded
  decode(encoded: Encoded): unknown
}

export const jsonCodec: Codec = {
  encode(value) {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return { bytes: new TextEncoder().encode(text), encoding: 'json' }
    throw new EngineError('invalid_input', `a value of type ${typeof value} has no JSON form; send null instead`)
  },
  decode({ bytes, encoding }) {
    if (encoding === 'json') return JSON.parse(new TextDecoder().decode(bytes))
    throw new EngineError('invalid_input', `the bytes are encoded as '${encoding}'; the JSON codec reads 'json'`, {
      encoding,
    })
  },
}
