// What a claim that waits hears, and what it leaves alone. Timers are stopped: only a hint can wake it, never a poll.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createEngine } from '../../../src/engine/engine.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { worker } from './holder.ts'

interface Watched {
  readonly engine: Engine
  /** The names of the statements that were sent by themselves, in order. */
  readonly sent: readonly string[]
  /** Resolves when a statement has been sent so many times in all. */
  until(name: string, times: number): Promise<void>
  /** The statement's answers from this one on are kept back until the answer is called. */
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
    until: (name, times) => vi.waitFor(() => expect(timesSent(name)).toBeGreaterThanOrEqual(times), 10_000),
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

// With nothing there, a claim looks for its queues, and for others that came meanwhile; then it waits.
const looksOfAnEmptyClaim = 2

test('a claim that looks while something is created does not wait', async () => {
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

test('a claim that waits is not woken for what is delayed, and is for a delay that is over', async () => {
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

test('a claim that waits is woken for a queue that nobody had heard of, and never for those that it does not read', async () => {
  const { sql } = await setup()
  const { engine, sent, until } = watched(sql)
  await engine.executions.create({ kind: 'k', lane: 'others' })
  stopTimers()
  const waiting = engine.executions.claim({ ...worker, wait: '1h' })
  await until('queue.match', looksOfAnEmptyClaim)
  for (let round = 1; round <= 20; round += 1) await engine.executions.create({ kind: 'k', lane: 'others' })
  // Once more at most: a server begins to listen meanwhile, and whatever it told before is not known.
  expect(sent.filter((name) => name === 'queue.match').length).toBeLessThanOrEqual(2 * looksOfAnEmptyClaim)
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect((await waiting).claims).toMatchObject([{ executionId }])
})
