import { describe, expect, test } from 'vitest'
import { EngineError, errorTable, refusal } from '../../src/model/errors.ts'
import type { ErrorCode } from '../../src/model/errors.ts'

const codes = Object.keys(errorTable) as ErrorCode[]

describe('the error table', () => {
  test.each(codes)('%s is snake case, has an HTTP error status and explains itself in a sentence', (code) => {
    const { status, meaning } = errorTable[code]
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
    expect(meaning).toMatch(/^[A-Z].+\.$/)
  })

  test('errors that a retry may resolve are distinguished from the others', () => {
    const retryable = codes.filter((code) => errorTable[code].retryable)
    expect(retryable).toEqual([
      'request_timeout',
      'contended',
      'wait_timed_out',
      'rate_limited',
      'concurrency_limited',
      'database_unreachable',
      'database_unavailable',
      'migration_blocked',
      'server_stopping',
      'server_unreachable',
    ])
  })

  test("an error in the caller's input repeats in every attempt; a state, a right or a fault may change", () => {
    const permanent = codes.filter((code) => errorTable[code].permanent)
    const isWrong = (code: ErrorCode): boolean => [400, 413].includes(errorTable[code].status)
    const notSent: readonly ErrorCode[] = ['invalid_url', 'no_transaction']
    const ofSteps: readonly ErrorCode[] = [
      'step_kind_conflict',
      'step_value_refused',
      'step_limit',
      'nondeterminism',
      'unawaited_work',
      'child_depth_limit',
    ]
    const expected = codes.filter((code) => (isWrong(code) && !notSent.includes(code)) || ofSteps.includes(code))
    expect(permanent).toEqual(expected)
    expect(permanent.filter((code) => errorTable[code].retryable)).toEqual([])
  })
})

describe('an EngineError', () => {
  test('carries the status and the retryability of its code', () => {
    const error = new EngineError('contended', 'row is held', { id: 'x' })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'EngineError', code: 'contended', status: 409, retryable: true })
    expect(error.details).toEqual({ id: 'x' })
  })

  test('keeps its own copy of the details', () => {
    const details = { id: 'x' }
    const error = new EngineError('corruption', 'broken', details)
    details.id = 'y'
    expect(error.details).toEqual({ id: 'x' })
    expect(Object.isFrozen(error.details)).toBe(true)
  })

  test('shows in a stack trace under its name, without a name field of its own', () => {
    const error = new EngineError('invalid_input', 'no')
    expect(error.stack).toMatch(/^EngineError: no/)
    expect(Object.keys(error)).not.toContain('name')
  })

  test('omits its cause when it becomes JSON', () => {
    const error = new EngineError('database_error', 'refused', { table: 'a' }, { cause: new Error('password=hunter2') })
    expect(error.cause).toBeInstanceOf(Error)
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'database_error',
      message: 'refused',
      status: 500,
      retryable: false,
      details: { table: 'a' },
    })
  })

  test('has no cause when none is given', () => {
    expect('cause' in new EngineError('invalid_input', 'no')).toBe(false)
  })

  test('is recognized by its code', () => {
    const error: unknown = new EngineError('stale_lease', 'gone')
    expect(EngineError.is(error)).toBe(true)
    expect(EngineError.is(error, 'stale_lease')).toBe(true)
    expect(EngineError.is(error, 'lease_expired')).toBe(false)
  })

  test.each([null, undefined, 'stale_lease', 7, new Error('no'), { code: 'stale_lease' }])(
    'is not mistaken for another error (%s)',
    (value) => {
      expect(EngineError.is(value)).toBe(false)
      expect(value instanceof EngineError).toBe(false)
    },
  )

  test('of another copy of the package is recognized', async () => {
    const copy = (await import(/* @vite-ignore */ ['../../src/model/errors.ts', 'copy'].join('?'))) as {
      EngineError: typeof EngineError
    }
    const foreign: unknown = new copy.EngineError('stale_lease', 'gone')
    expect(copy.EngineError).not.toBe(EngineError)
    expect(foreign instanceof EngineError).toBe(true)
    expect(EngineError.is(foreign, 'stale_lease')).toBe(true)
  })

  test('is no instance of a class that derives from it', () => {
    class Narrower extends EngineError {}
    expect(new EngineError('invalid_input', 'no') instanceof Narrower).toBe(false)
    expect(new Narrower('invalid_input', 'no') instanceof Narrower).toBe(true)
    expect(new Narrower('invalid_input', 'no') instanceof EngineError).toBe(true)
  })
})

test('a refusal names the field, the value found and the allowed ones', () => {
  const error = refusal('invalid_input', 'lane', 'empty', '1 to 64 bytes')
  expect(error.message).toBe('lane is empty; it must be 1 to 64 bytes')
  expect(error.details).toEqual({ field: 'lane', found: 'empty', allowed: '1 to 64 bytes' })
})
