import { expect } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import type { ErrorCode } from '../../src/model/errors.ts'

/** The error that the work throws; it must be one of ours with this code. */
export function refused(code: ErrorCode, work: () => unknown): EngineError {
  let answer: unknown
  try {
    answer = work()
  } catch (error) {
    if (!EngineError.is(error)) throw error
    expect(error.code).toBe(code)
    return error
  }
  return expect.unreachable(`expected ${code}, got ${JSON.stringify(answer)}`)
}
