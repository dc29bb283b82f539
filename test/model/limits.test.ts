import { expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'

test('the limits are the documented ones', () => {
  expect(limits).toMatchObject({
    payloadBytes: 1_048_576,
    resultBytes: 1_048_576,
    stepResultBytes: 1_048_576,
    signalBytes: 262_144,
    frameBytes: 65_536,
    errorBytes: 65_536,
    controlBodyBytes: 65_536,
    batchBodyBytes: 16_777_216,
    stepBytes: 67_108_864,
    leaseTtlMinMs: 100,
    leaseTtlMaxMs: 24 * 60 * 60 * 1000,
  })
})

test('a time that is a longest duration ahead is still a safe integer', () => {
  const farAhead = Date.UTC(9999, 11, 31)
  expect(Number.isSafeInteger(farAhead + limits.durationMs)).toBe(true)
})
