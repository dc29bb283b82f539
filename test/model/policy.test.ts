import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clampPriority, failureCategories, parsePolicy, retryDelayMs, shouldRetry } from '../../src/model/policy.ts'
import type { PolicyInput } from '../../src/model/policy.ts'
import { refused } from './refused.ts'

const parse = (policy: PolicyInput) => parsePolicy(policy)

describe('a policy', () => {
  test('may be absent', () => {
    expect(parsePolicy(undefined)).toBeNull()
    expect(parsePolicy(null)).toBeNull()
    expect(parsePolicy({})).toEqual({})
  })

  test('is returned with its durations in milliseconds', () => {
    const policy = parse({
      retry: {
        attempts: 5,
        backoff: { type: 'exponential', initialMs: '1s', maxMs: '5m', multiplier: 2, jitter: 0.25 },
        categories: ['timeout', 'transient', 'timeout'],
      },
      attemptTimeoutMs: '10m',
      maxReclaimCount: 3,
      maxReplayCount: 0,
      maxSignalCount: 10_000,
    })
    expect(policy).toStrictEqual({
      retry: {
        attempts: 5,
        backoff: { type: 'exponential', initialMs: 1000, maxMs: 300_000, multiplier: 2, jitter: 0.25 },
        categories: ['transient', 'timeout'],
      },
      attemptTimeoutMs: 600_000,
      maxReclaimCount: 3,
      maxReplayCount: 0,
      maxSignalCount: 10_000,
    })
  })

  test('ATT-13 has its back-off written out (an unknown type is refused, not guessed)', () => {
    const exponential = { type: 'exponential', initialMs: 1000, maxMs: 60_000, multiplier: 2, jitter: 0 }
    expect(parse({ retry: { attempts: 2 } })?.retry?.backoff).toEqual(exponential)
    expect(parse({ retry: { attempts: 2, backoff: { type: 'exponential' } } })?.retry?.backoff).toEqual(exponential)
    expect(parse({ retry: { attempts: 2, backoff: { type: 'fixed' } } })?.retry?.backoff).toEqual({
      type: 'fixed',
      delayMs: 1000,
      jitter: 0,
    })
  })

  test('that starts above the usual ceiling raises it', () => {
    const policy = parse({ retry: { attempts: 2, backoff: { type: 'exponential', initialMs: '2h' } } })
    expect(policy?.retry?.backoff).toMatchObject({ initialMs: 7_200_000, maxMs: 7_200_000 })
  })

  test('omits undefined fields', () => {
    const policy = parsePolicy({
      retry: { attempts: 2, backoff: undefined, categories: undefined },
      maxReplayCount: undefined,
    })
    expect(Object.keys(policy!)).toEqual(['retry'])
    expect(Object.keys(policy!.retry!)).toEqual(['attempts', 'backoff'])
  })

  test('reads the same when it is read again', () => {
    const backoff = fc.oneof(
      fc.record({ type: fc.constant('fixed'), delayMs: fc.nat(), jitter: fc.double({ min: 0, max: 1, noNaN: true }) }),
      fc.record({ type: fc.constant('exponential'), initialMs: fc.nat(), multiplier: fc.integer({ min: 1, max: 9 }) }),
    )
    const policies = fc.record(
      {
        retry: fc.record({ attempts: fc.integer({ min: 1, max: 1000 }), backoff }),
        attemptTimeoutMs: fc.integer({ min: 1, max: 1e9 }),
        maxReclaimCount: fc.nat(1000),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(policies, (policy) => {
        const once = parsePolicy(policy)
        expect(parsePolicy(JSON.parse(JSON.stringify(once)))).toEqual(once)
      }),
    )
  })

  test.each(['{"retry":', 'retry', '', 7, true, [], [{}], () => ({}), new Map(), new Date(0), Symbol('x')])(
    'EXEC-09 that is no plain object is refused, never taken as none: %s',
    (value) => {
      refused('invalid_policy', () => parsePolicy(value))
    },
  )

  test.each([
    [{ retries: 3 }, 'policy has an unknown field "retries"; did you mean retry?'],
    [{ maxReplays: 3 }, 'policy has an unknown field "maxReplays"; did you mean maxReplayCount?'],
    [
      { fallback: [] },
      'policy has an unknown field "fallback"; allowed fields are retry, attemptTimeoutMs, maxReclaimCount, maxReplayCount, maxSignalCount',
    ],
    [{ retry: { attempt: 3 } }, 'policy.retry has an unknown field "attempt"; did you mean attempts?'],
    [
      { retry: { attempts: 3, backoff: { type: 'fixed', initialMs: 5 } } },
      'policy.retry.backoff has an unknown field "initialMs"; allowed fields are type, delayMs, jitter',
    ],
  ])('with an unknown field is refused with the near name: %j', (policy, message) => {
    expect(refused('invalid_policy', () => parsePolicy(policy)).message).toBe(message)
  })

  test.each([
    [{ retry: {} }, 'policy.retry.attempts is undefined'],
    [{ retry: { attempts: 0 } }, 'policy.retry.attempts is 0'],
    [{ retry: { attempts: 1001 } }, 'policy.retry.attempts is 1001'],
    [{ retry: { attempts: 1.5 } }, 'policy.retry.attempts is 1.5'],
    [{ retry: { attempts: NaN } }, 'policy.retry.attempts is NaN'],
    [{ retry: { attempts: Infinity } }, 'policy.retry.attempts is Infinity'],
    [{ retry: { attempts: '3' } }, 'policy.retry.attempts is "3"'],
    [{ retry: null }, 'policy.retry is null'],
    [{ retry: { attempts: 2, backoff: null } }, 'policy.retry.backoff is null'],
    [{ retry: { attempts: 2, backoff: {} } }, 'policy.retry.backoff.type is undefined'],
    [{ retry: { attempts: 2, backoff: { type: 'linear' } } }, 'policy.retry.backoff.type is "linear"'],
    [{ retry: { attempts: 2, backoff: { type: 'fixed', delayMs: -1 } } }, 'policy.retry.backoff.delayMs is -1'],
    [{ retry: { attempts: 2, backoff: { type: 'fixed', jitter: 1.1 } } }, 'policy.retry.backoff.jitter is 1.1'],
    [{ retry: { attempts: 2, backoff: { type: 'fixed', jitter: true } } }, 'policy.retry.backoff.jitter is true'],
    [{ retry: { attempts: 2, backoff: { type: 'fixed', jitter: NaN } } }, 'policy.retry.backoff.jitter is NaN'],
    [
      { retry: { attempts: 2, backoff: { type: 'exponential', multiplier: 0.5 } } },
      'policy.retry.backoff.multiplier is 0.5',
    ],
    [
      { retry: { attempts: 2, backoff: { type: 'exponential', multiplier: Infinity } } },
      'policy.retry.backoff.multiplier',
    ],
    [
      { retry: { attempts: 2, backoff: { type: 'exponential', initialMs: 9, maxMs: 8 } } },
      'policy.retry.backoff.maxMs is 8',
    ],
    [{ retry: { attempts: 2, categories: [] } }, 'policy.retry.categories is an array'],
    [{ retry: { attempts: 2, categories: 'timeout' } }, 'policy.retry.categories is "timeout"'],
    [{ retry: { attempts: 2, categories: ['timeouts'] } }, 'did you mean timeout?'],
    [{ retry: { attempts: 2, categories: ['permanent'] } }, 'policy.retry.categories is "permanent"'],
    [{ attemptTimeoutMs: 0 }, 'policy.attemptTimeoutMs is 0'],
    [{ attemptTimeoutMs: '1h30m' }, 'policy.attemptTimeoutMs is "1h30m"'],
    [{ attemptTimeoutMs: null }, 'policy.attemptTimeoutMs is null'],
    [{ maxReclaimCount: -1 }, 'policy.maxReclaimCount is -1'],
    [{ maxReplayCount: 2 ** 53 }, 'policy.maxReplayCount is 9007199254740992'],
    [{ maxSignalCount: 10_001 }, 'policy.maxSignalCount is 10001'],
  ])('that cannot be honoured is refused: %j', (policy, message) => {
    expect(refused('invalid_policy', () => parsePolicy(policy)).message).toContain(message)
  })

  test('takes nothing from a prototype', () => {
    refused('invalid_policy', () => parsePolicy(Object.create({ maxReplayCount: 3 })))
    refused('invalid_policy', () => parsePolicy(JSON.parse('{"__proto__":{"maxReplayCount":3}}')))
    refused('invalid_policy', () => parsePolicy({ constructor: 1 }))
    refused('invalid_policy', () => parsePolicy({ [Symbol('retry')]: 1 }))
    expect(parsePolicy(Object.assign(Object.create(null), { maxReplayCount: 3 }))).toEqual({ maxReplayCount: 3 })
  })

  test('takes nothing from a polluted Object.prototype', () => {
    const polluted = Object.prototype as unknown as Record<string, unknown>
    polluted['jitter'] = 1
    polluted['maxReplayCount'] = 3
    try {
      const policy = parsePolicy({ retry: { attempts: 2 } })
      expect(Object.hasOwn(policy!, 'maxReplayCount')).toBe(false)
      expect(policy!.retry!.backoff.jitter).toBe(0)
    } finally {
      delete polluted['jitter']
      delete polluted['maxReplayCount']
    }
  })
})

describe('a retry', () => {
  const three = parse({ retry: { attempts: 3 } })

  test('is left until all attempts are used', () => {
    expect([0, 1, 2, 3].map((retries) => shouldRetry(three, retries, 'transient', false))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(shouldRetry(parse({ retry: { attempts: 1 } }), 0, 'transient', false)).toBe(false)
  })

  test('needs a policy', () => {
    expect(shouldRetry(null, 0, 'transient', false)).toBe(false)
    expect(shouldRetry({}, 0, 'transient', false)).toBe(false)
  })

  test('never follows if the number of attempts was damaged', () => {
    const damaged = { ...three, retry: { ...three!.retry!, attempts: 'many' as unknown as number } }
    expect(shouldRetry(damaged, 0, 'transient', false)).toBe(false)
  })

  test('never follows a permanent failure or a cancellation', () => {
    const retried = failureCategories.filter((category) => shouldRetry(three, 0, category, false))
    expect(retried).toEqual(['transient', 'infra_crash', 'timeout'])
    expect(failureCategories.filter((category) => shouldRetry(three, 0, category, true))).toEqual([])
  })

  test('follows only the categories that the policy lists', () => {
    const policy = parse({ retry: { attempts: 3, categories: ['timeout'] } })
    expect(failureCategories.filter((category) => shouldRetry(policy, 0, category, false))).toEqual(['timeout'])
  })

  test('ATT-12 waits longer each time, up to the ceiling', () => {
    const policy = parse({
      retry: { attempts: 9, backoff: { type: 'exponential', initialMs: 100, maxMs: 1000, multiplier: 2 } },
    })
    const delays = [0, 1, 2, 3, 4, 5].map((retries) => retryDelayMs(policy, retries, 0.5))
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000])
  })

  test('waits for a fixed time with a fixed back-off', () => {
    const policy = parse({ retry: { attempts: 9, backoff: { type: 'fixed', delayMs: '2s' } } })
    expect([0, 5, 500].map((retries) => retryDelayMs(policy, retries, 0.5))).toEqual([2000, 2000, 2000])
  })

  test('randomizes the share of the delay that is called jitter', () => {
    const policy = parse({ retry: { attempts: 9, backoff: { type: 'fixed', delayMs: 1000, jitter: 0.25 } } })
    expect([0, 0.5, 1].map((random) => retryDelayMs(policy, 0, random))).toEqual([1000, 875, 750])
  })

  test('waits for a whole number of milliseconds between zero and the ceiling, whatever the numbers', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    const numbers = fc.record({
      initialMs: fc.integer({ min: 0, max: 5000 }),
      maxMs: fc.integer({ min: 5000, max: 1e9 }),
      multiplier: fc.double({ min: 1, max: 1000, noNaN: true }),
      jitter: share,
    })
    fc.assert(
      fc.property(numbers, fc.nat(1000), share, (backoff, retries, random) => {
        const policy = parse({ retry: { attempts: 1000, backoff: { type: 'exponential', ...backoff } } })
        const delay = retryDelayMs(policy, retries, random)
        expect(Number.isSafeInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(0)
        expect(delay).toBeLessThanOrEqual(backoff.maxMs)
      }),
    )
  })
})

describe('a priority', () => {
  test.each([
    [10_000, 9000, true],
    [-5, 0, true],
    [50, 50, false],
    [0, 0, false],
    [9000, 9000, false],
  ])('EXEC-08 of %i becomes %i (clamped: %s)', (given, priority, clamped) => {
    expect(clampPriority(given)).toEqual({ priority, clamped })
  })

  test.each([1.5, NaN, Infinity, -Infinity, '5', null, undefined, 5n])('is never %s', (value) => {
    refused('invalid_input', () => clampPriority(value))
  })
})
