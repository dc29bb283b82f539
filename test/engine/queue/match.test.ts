import { expect, onTestFinished, test, vi } from 'vitest'
import { QueueMatcher, type QueueFilter } from '../../../src/engine/queue/match.ts'
import { around } from '../../../src/sql/around.ts'
import { setup } from '../../support/setup.ts'

function filterOf(lane: string): QueueFilter {
  return { namespaces: null, lanes: [lane], kinds: null, versions: [], capabilities: [] }
}

async function matching() {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k', lane: 'a' })
  let asked = 0
  const matcher = new QueueMatcher(
    around(sql, (ask) => {
      asked += 1
      return ask()
    }),
  )
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  return { matcher, askedCount: () => asked }
}

const unknownQueue = 1000

test('a queue is looked up again at its first hint, and not with every later one', async () => {
  const { matcher, askedCount } = await matching()
  for (let round = 1; round <= 3; round += 1) {
    matcher.invalidate(unknownQueue)
    await matcher.match(filterOf('a'))
  }
  expect(askedCount()).toBe(1)
  matcher.invalidate(unknownQueue + 1)
  await matcher.match(filterOf('a'))
  expect(askedCount()).toBe(2)
})

test('filters that no claim uses for a minute are forgotten', async () => {
  const { matcher } = await matching()
  await matcher.match(filterOf('a'))
  expect(matcher.mayMatch(filterOf('a'), unknownQueue)).toBe(false)
  vi.advanceTimersByTime(60_000)
  await matcher.match(filterOf('b'))
  expect(matcher.mayMatch(filterOf('b'), unknownQueue)).toBe(false)
  // A queue without a remembered match may fit any filter.
  expect(matcher.mayMatch(filterOf('a'), unknownQueue)).toBe(true)
})
