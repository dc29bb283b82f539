import { expect, test } from 'vitest'
import type { Condition } from '../../../src/model/condition.ts'
import { atNoon, later, noon, now, past, sentenceOf, soon } from './explained.ts'
import * as stored from '../../support/stored.ts'

const child = '{fp:7}:01900000-0000-7000-8000-000000000003'

test.each<[Condition, string]>([
  [{ kind: 'signal', name: 'paid' }, "a signal named 'paid'"],
  [
    { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['answer'] },
    "2 signals from different sources at waitpoint 'answer'",
  ],
  [{ kind: 'operator' }, 'an operator to resume it'],
  [{ kind: 'timeout' }, 'its timeout'],
  [{ kind: 'child', executionId: child }, `child ${child} to end`],
  [{ kind: 'time', at: soon }, `the time ${later}`],
  [
    {
      kind: 'allOf',
      members: [
        { kind: 'signal', name: 'a' },
        { kind: 'signal', name: 'b' },
      ],
    },
    "all of (a signal named 'a', a signal named 'b')",
  ],
  [
    { kind: 'anyOf', members: [{ kind: 'operator' }, { kind: 'timeout' }] },
    'one of (an operator to resume it, its timeout)',
  ],
])('suspended on %j', async (condition, text) => {
  const { engine, given } = await atNoon()
  const id = await given.suspended({ since: now, condition, timeoutAt: soon })
  expect(await sentenceOf(engine, id)).toBe(
    `Has been suspended since ${noon}, waiting for ${text}. The wait times out at ${later}; then it fails.`,
  )
})

test.each([
  ['fail', 'it fails'],
  ['cancel', 'it is cancelled'],
  ['expire', 'it expires'],
  ['escalate', 'it is escalated to an operator'],
  ['auto_resume_with_timeout_signal', 'it resumes with a timeout signal'],
] as const)('a timeout that means %s says what happens then', async (timeoutBehaviour, text) => {
  const { engine, given } = await atNoon()
  const id = await given.suspended({ since: now, timeoutAt: soon, timeoutBehaviour })
  expect(await sentenceOf(engine, id)).toContain(` The wait times out at ${later}; then ${text}.`)
})

test('an escalation, and a timeout that no duty has processed yet', async () => {
  const { engine, sql, given } = await atNoon()
  const id = await given.suspended({
    since: past,
    timeoutAt: soon,
    timeoutBehaviour: 'escalate',
    secondBehaviour: 'fail',
  })
  await stored.suspensions.change(sql, { escalated_at_ms: now, timeout_at_ms: now })
  expect(await sentenceOf(engine, id)).toBe(
    `Has been suspended since 2026-05-01T11:59:00.000Z, waiting for a signal at waitpoint 'answer'. It was escalated to an operator at ${noon}. The wait times out at ${noon}; then it fails. That time has passed, but no process has run the background duties: start a worker or a server.`,
  )
})
