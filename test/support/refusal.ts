import { expect } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import type { ErrorCode } from '../../src/model/errors.ts'

/** The error that rejects the work; it must be an EngineError with this code. */
export async function refusal(code: ErrorCode, work: Promise<unknown>): Promise<EngineError> {
  let answer: unknown
  try {
    answer = await work
  } catch (error) {
    if (!EngineError.is(error)) throw error
    expect(`${error.code}: ${error.message}`).toContain(`${code}: `)
    return error
  }
  return expect.unreachable(`expected ${code}, got ${JSON.stringify(answer)}`)
}
