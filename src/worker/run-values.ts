// The input and the result of a run, between bytes and values. A value that cannot be decoded, checked or stored fails the execution
// for good: a retry would fail in the same way.
import { decodeValue, encodeValue, type Encoded } from '../model/codec.ts'
import { limits } from '../model/limits.ts'
import { PermanentError } from './errors.ts'
import type { Holder } from './holder.ts'
import { messageOf } from './outcome.ts'
import { checkBy, type Schema } from './schema.ts'
import type { Task } from './task.ts'

export function decodePayload({ claim, codec }: Holder): unknown {
  try {
    return decodeValue(codec, 'the payload', claim.payload, claim.payloadEncoding)
  } catch (error) {
    return failForGood(error)
  }
}

export function checkInput(schema: Schema, payload: unknown, task: Task): Promise<unknown> {
  return checkBy(schema, payload, `the input of ${task.name}`).catch(failForGood)
}

export function checkResult(schema: Schema, value: unknown, task: Task): Promise<unknown> {
  return checkBy(schema, value, `the result of ${task.name}`).catch(failForGood)
}

/** Null: the result is undefined. */
export function encodeResult(holder: Holder, task: Task, result: unknown): Encoded | null {
  const encoded = encode(holder, task, result)
  if (encoded === null || encoded.bytes.byteLength <= limits.resultBytes) return encoded
  const found = `the result of ${task.name} is ${encoded.bytes.byteLength} bytes`
  throw new PermanentError(
    `${found}; at most ${limits.resultBytes} are stored. Keep it elsewhere and return a reference`,
  )
}

function encode({ codec }: Holder, task: Task, result: unknown): Encoded | null {
  try {
    return encodeValue(codec, `the result of ${task.name}`, result)
  } catch (error) {
    return failForGood(error)
  }
}

function failForGood(error: unknown): never {
  throw error instanceof PermanentError ? error : new PermanentError(messageOf(error), { cause: error })
}
