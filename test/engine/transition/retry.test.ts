// SQL decides a retry, in the statement that writes it; the model defines the expected decision.
import { expect, test } from 'vitest'
import { retryDelaySql, shouldRetrySql } from '../../../src/engine/transition/retry.ts'
import {
  failureCategories,
  parsePolicy,
  retryDelayMs,
  shouldRetry,
  type ExecutionPolicy,
  type FailureCategory,
  type PolicyInput,
} from '../../../src/model/policy.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'

interface Case {
  readonly policy: ExecutionPolicy | null
  readonly retryCount: number
  readonly category: FailureCategory
  readonly permanent: boolean
}

async function decide(sql: Sql, cases: readonly Case[]): Promise<{ retried: boolean; delay: number | null }[]> {
  const text = `
select c.ordinality as ordinal, ${shouldRetrySql('p.policy', 'c.retry_count', 'c.category', 'c.permanent')} as retried,
  ${retryDelaySql('p.policy', 'c.retry_count')} as delay
from unnest($1::text[], $2::int[], $3::text[], $4::bool[]) with ordinality
  as c (policy, retry_count, category, permanent, ordinality)
cross join lateral (select c.policy::jsonb as policy) p
order by c.ordinality`
  const params = { policies: 'text?[]', retry_counts: 'int4[]', categories: 'text[]', permanents: 'bool[]' } as const
  const row = { ordinal: 'int8', retried: 'bool', delay: 'int8?' } as const
  return sql.query(
    { name: 'test.retry', params, row, text },
    {
      policies: cases.map(({ policy }) => (policy === null ? null : JSON.stringify(policy))),
      retry_counts: cases.map((one) => one.retryCount),
      categories: cases.map((one) => one.category),
      permanents: cases.map((one) => one.permanent),
    },
  )
}

const of = (retry: PolicyInput['retry']): ExecutionPolicy | null => parsePolicy(retry === undefined ? {} : { retry })

const named: readonly (ExecutionPolicy | null)[] = [
  null,
  of(undefined),
  parsePolicy({ maxReclaimCount: 3 }),
  of({ attempts: 1 }),
  of({ attempts: 5 }),
  of({ attempts: 1000, categories: ['timeout'] }),
  of({ attempts: 3, categories: ['transient', 'infra_crash'] }),
  of({ attempts: 9, backoff: { type: 'fixed' } }),
  of({ attempts: 9, backoff: { type: 'fixed', delayMs: 0 } }),
  of({ attempts: 9, backoff: { type: 'fixed', delayMs: '100 years' } }),
]

const lengths = [0, 1, 3, 100, 999, 1000, 60_000, 86_400_000, 3_155_760_000_000]
const wholeMultipliers = [1, 1.25, 1.5, 2, 2.5, 3, 10, 1000]
// Their powers are rounded by different libraries: a value that should be a whole number may be slightly below it.
const roundedMultipliers = [1.0000000000000002, 1.000001, 1.1, 7.3, 999.9]
const multipliers = [...wholeMultipliers, ...roundedMultipliers]
const exponential = lengths.flatMap((initialMs) =>
  lengths
    .filter((maxMs) => maxMs >= initialMs)
    .flatMap((maxMs) =>
      multipliers.map((multiplier) =>
        of({ attempts: 1000, backoff: { type: 'exponential', initialMs, maxMs, multiplier } }),
      ),
    ),
)

test('the database decides as the model whether a failure is retried', async () => {
  const { sql } = await setup()
  const cases = named.flatMap((policy) =>
    [0, 1, 2, 3, 4, 7, 8, 998, 999, 5000].flatMap((retryCount) =>
      failureCategories.flatMap((category) =>
        [false, true].map((permanent) => ({ policy, retryCount, category, permanent })),
      ),
    ),
  )
  const decided = await decide(sql, cases)
  const expected = cases.map((one) => shouldRetry(one.policy, one.retryCount, one.category, one.permanent))
  expect(decided.map((one) => one.retried)).toEqual(expected)
  expect(new Set(expected).size).toBe(2)
})

test('ATT-13 a sparse back-off waits a second at first, in SQL as in the model', async () => {
  const { sql } = await setup()
  const policies = [of({ attempts: 2 }), of({ attempts: 2, backoff: { type: 'exponential' } }), named[7]!]
  const cases = policies.map((policy) => ({ policy, retryCount: 0, category: 'transient', permanent: false }) as const)
  expect((await decide(sql, cases)).map((one) => one.delay)).toEqual([1000, 1000, 1000])
})

const slackMs = (policy: ExecutionPolicy | null): number => {
  const backoff = policy?.retry?.backoff
  return backoff?.type === 'exponential' && roundedMultipliers.includes(backoff.multiplier) ? 1 : 0
}

test('without jitter, the delay of a retry is exactly that of the model', async () => {
  const { sql } = await setup()
  const cases = [...named, ...exponential].flatMap((policy) =>
    [0, 1, 2, 3, 4, 5, 6, 10, 31, 32, 63, 64, 100, 511, 998, 5000].map(
      (retryCount) => ({ policy, retryCount, category: 'transient', permanent: false }) as const,
    ),
  )
  const decided = await decide(sql, cases)
  const differ = cases.flatMap((one, index) => {
    const expected = retryDelayMs(one.policy, one.retryCount, 0.5)
    const found = decided[index]!.delay ?? 0
    if (Math.abs(found - expected) <= slackMs(one.policy)) return []
    return [{ ...one.policy?.retry?.backoff, retryCount: one.retryCount, expected, found }]
  })
  expect(differ).toEqual([])
  expect(cases.length).toBeGreaterThan(8000)
})

test('with jitter, the delay of a retry is within the bounds of the model, and varies', async () => {
  const { sql } = await setup()
  for (const jitter of [0.25, 0.5, 1]) {
    const policies = [
      of({ attempts: 9, backoff: { type: 'fixed', delayMs: 10_000, jitter } }),
      of({ attempts: 9, backoff: { type: 'exponential', initialMs: 500, maxMs: 30_000, multiplier: 3, jitter } }),
    ]
    for (const policy of policies) {
      const cases = Array.from({ length: 500 }, (_, index) => {
        return { policy, retryCount: index % 8, category: 'transient', permanent: false } as const
      })
      const delays = (await decide(sql, cases)).map((one) => one.delay!)
      delays.forEach((delay, index) => {
        const { retryCount } = cases[index]!
        expect(delay).toBeLessThanOrEqual(retryDelayMs(policy, retryCount, 0))
        expect(delay).toBeGreaterThanOrEqual(retryDelayMs(policy, retryCount, 1))
      })
      expect(new Set(delays).size).toBeGreaterThan(100)
    }
  }
})
