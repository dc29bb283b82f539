// Plain JSON in a request, in place of encoded bytes: for people who use curl. It is stored as the JSON codec stores a
// value.
import { encodeValue, jsonCodec } from './codec.ts'
import { EngineError } from './errors.ts'

/** `input` of an execution, `value` of a signal. */
export type PlainField = 'input' | 'value'

export interface Payload {
  readonly payload?: Uint8Array | undefined
  readonly payloadEncoding?: string | undefined
}

type Request = Payload & { readonly [field in PlainField]?: unknown }

/** The payload of a request: its bytes, or its plain JSON as bytes. */
export function payloadOf(field: PlainField, request: Request): Payload {
  const { [field]: plain, payload, payloadEncoding } = request
  if (plain === undefined) {
    if (payload !== undefined || payloadEncoding === undefined) return { payload, payloadEncoding }
    throw wrong('payloadEncoding', 'payloadEncoding is given without payload; give both or neither')
  }
  if (payload !== undefined) throw wrong(field, `${field} and payload are both given; give one of them`)
  if (payloadEncoding !== undefined) {
    throw wrong('payloadEncoding', `payloadEncoding is given with ${field}, which is always JSON; leave it out`)
  }
  const { bytes, encoding } = encodePlain(field, plain)
  return { payload: bytes, payloadEncoding: encoding }
}

/** Refuses a value that JSON cannot hold. */
export function encodePlain(field: string, plain: unknown): { readonly bytes: Uint8Array; readonly encoding: string } {
  if (plain instanceof Uint8Array) throw wrong(field, `${field} is bytes; it must be JSON. Send bytes as payload`)
  return encodeValue(jsonCodec, field, plain)!
}

function wrong(field: string, sentence: string): EngineError {
  return new EngineError('invalid_input', sentence, { field })
}
