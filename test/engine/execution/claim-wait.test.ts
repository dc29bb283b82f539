// Which hints wake a waiting claim. Timers are stopped: only a hint can wake it, never a poll.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createEngine } from '../../../src/engine/engine.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { worker } from './holder.ts'
import { patience } from '../../support/patience.ts'

interface Watched {
  readonly engine: Engine
  /** The names of the statements that were sent, in order; statements inside of a set are not recorded. */
  readonly sent: readonly string[]
  /** Resolves when a statement has been sent so many times in all. */
  until(name: string, times: number): Promise<void>
  /** Delays the statement's answers from this one on, until the returned function is called. */
  keepBack(name: string, from: number): () => void
}

function watched(inner: Sql): Watched {
  const sent: string[] = []
  const timesSent = (name: string): number => sent.filter((one) => one === name).length
  let kept: { readonly name: string; readonly from: number; readonly free: Promise<void> } | null = null
  const sql: Sql = {
    ...around(inner, (ask) => ask()),
    async query(statement, values) {
      const answer = await inner.query(statement, values)
      sent.push(statement.name)
      if (kept?.name === statement.name && timesSent(kept.name) >= kept.from) await kept.free
      return answer
    },
  }
  return {
    engine: createEngine(sql),
    sent,
    until: (name, times) => vi.waitFor(() => expect(timesSent(name)).toBeGreaterThanOrEqual(times), patience(10_000)),
    keepBack(name, from) {
      let letGo = (): void => {}
      kept = { name, from, free: new Promise<void>((resolve) => (letGo = resolve)) }
      return () => {
        kept = null
        letGo()
      }
    },
  }
}

function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

// On an empty database, a claim reads its queues, and then any new ones; then it waits.
const looksOfAnEmptyClaim = 2

test('a claim that reads while an execution is created does not wait', async () => {
  const { sql } = await setup()
  const { engine, until, keepBack } = watched(sql)
  const letGo = keepBack('queue.match', looksOfAnEmptyClaim)
  stopTimers()
  const waiting = engine.executions.claim({ ...worker, wait: '1h' })
  await until('queue.match', looksOfAnEmptyClaim)
  const { executionId } = await engine.executions.create({ kind: 'k' })
  letGo()
  expect((await waiting).claims).toMatchObject([{ executionId }])
})

test('a waiting claim is not woken for a delayed execution, and is woken when its delay is over', async () => {
  const { sql } = await setup()
  const { engine, sent, until } = watched(sql)
  stopTimers()
  const waiting = engine.executions.claim({ ...worker, wait: '1h' })
  await until('queue.match', looksOfAnEmptyClaim)
  for (let round = 1; round <= 20; round += 1) await engine.executions.create({ kind: 'k', delay: '1h' })
  expect(sent.filter((name) => name === 'queue.match').length).toBeLessThanOrEqual(2 * looksOfAnEmptyClaim)
  const { executionId } = await engine.executions.create({ kind: 'k', delayUntil: 1 })
  expect((await waiting).claims).toMatchObject([{ executionId }])
})

test('a waiting claim is woken for an unknown queue, and never for queues that it does not read', async () => {
  const { sql } = await setup()
  const { engine, sent, until } = watched(sql)
  await engine.executions.create({ kind: 'k', lane: 'others' })
  stopTimers()
  const waiting = engine.executions.claim({ ...worker, wait: '1h' })
  await until('queue.match', looksOfAnEmptyClaim)
  for (let round = 1; round <= 20; round += 1) await engine.executions.create({ kind: 'k', lane: 'others' })
  // Once more at most: a server begins to listen meanwhile, and earlier notifications are unknown.
  expect(sent.filter((name) => name === 'queue.match').length).toBeLessThanOrEqual(2 * looksOfAnEmptyClaim)
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect((await waiting).claims).toMatchObject([{ executionId }])
})

test('with a spread, all notifications within it cost one query', async () => {
  const { sql } = await setup()
  const { engine, sent, until } = watched(sql)
  await engine.executions.create({ kind: 'first' })
  const { claims } = await engine.executions.claim(worker)
  expect(claims).toHaveLength(1)
  const count = (statement: string): number => sent.filter((name) => name === statement).length
  const matchesBefore = count('queue.match')
  stopTimers()
  const waiting = engine.executions.claim({ ...worker, max: 10, wait: '1h', spread: '500ms' })
  await until('queue.match', matchesBefore + 1)
  // It has read all queues, and waits.
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), patience(10_000))
  const looks = count('execution.claim')
  const created = []
  for (let round = 1; round <= 10; round += 1) created.push(await engine.executions.create({ kind: 'first' }))
  // Not longer: the driver's own patience is measured by the same timers.
  await vi.advanceTimersByTimeAsync(500)
  expect((await waiting).claims.map((claim) => claim.executionId)).toEqual(created.map((one) => one.executionId))
  // Queries already in progress, and one more that starts again at the head.
  expect(count('execution.claim')).toBeLessThanOrEqual(looks + 4)
})

// By hand: a spy outlives its file, and then brings the stopped timers back (measured).
function timersAskedFor() {
  const ms: (number | undefined)[] = []
  const before = globalThis.setTimeout
  const end = (): void => void (globalThis.setTimeout = before)
  const noting = (act: () => void, delay?: number) => {
    ms.push(delay)
    return before(act, delay)
  }
  globalThis.setTimeout = Object.assign(noting, before)
  onTestFinished(end)
  return { ms, end }
}

test('SDK-10 an idle claim polls less and less often, and soon again when it starts anew', async () => {
  const { engine } = await setup()
  stopTimers()
  for (let turn = 1; turn <= 2; turn += 1) {
    const asked = timersAskedFor()
    const over = new AbortController()
    const waiting = engine.executions.claim({ ...worker, wait: '1h', signal: over.signal })
    // Others, such as the driver, set longer ones.
    const pauses = (): unknown[] => asked.ms.filter((ms) => ms !== undefined && ms <= 1000)
    // Only as far as its timer, because the driver's own patience is measured by the same timers.
    for (let received = 0; pauses().length < 6;) {
      if (pauses().length > received) await vi.advanceTimersByTimeAsync(pauses()[received++] as number)
      await new Promise((resolve) => setImmediate(resolve))
    }
    over.abort()
    await waiting
    // When listening begins, a waiting claim polls once more: one of the pauses may be zero.
    const whole = [50, 100, 200, 400, 800, 1000, 1000]
    const withOneLess = whole.map((_, place) => whole.toSpliced(place, 1))
    expect([whole.slice(0, 6), ...withOneLess]).toContainEqual(pauses().slice(0, 6))
    asked.end()
  }
})
