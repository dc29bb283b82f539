// One task kills its process whenever it runs. The others that start beside it die with it, again and again at first. Only
// the task at fault fails.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startChild, type Child } from '../support/child.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { countBusy } from '../support/reads.ts'
import * as stored from '../support/stored.ts'

const file = new URL('./poison.child.ts', import.meta.url)

async function answerOf(child: Child): Promise<unknown> {
  return child.next().catch(() => null)
}

/** No execution runs and none is ready: only time is missing. */
async function moveClock({ sql, clock }: Fixture): Promise<void> {
  if ((await countBusy(sql)) === 0) await clock.advance('100ms')
}

test('on Postgres, one poison task beside 200 others is the only one that fails', async () => {
  const fixture = await setup()
  const { sql, clock, url } = fixture
  let answer: unknown = null
  let deaths = 0
  for (let mode = 'submit'; answer === null; mode = 'work') {
    const child = startChild(file, { args: [url, mode] })
    if (mode === 'submit') await child.next()
    const answered = answerOf(child).then((found) => ({ found }))
    let over = null
    while (over === null) {
      over = await Promise.race([answered, sleep(20, null)])
      await moveClock(fixture)
    }
    answer = over.found
    if (answer !== null) break
    deaths += 1
    expect(await child.ended).toBe('SIGKILL')
    // The dead worker's leases.
    await clock.advance('1s')
  }
  expect(answer).toEqual({ failed: [['poison', 'reclaim_limit']] })
  expect(deaths).toBeGreaterThanOrEqual(6)
  expect(await stored.executions.count(sql)).toBe(201)
  expect(await stored.executions.count(sql, { public_state: 'failed' })).toBe(1)
  expect(await stored.executions.count(sql, { public_state: 'completed' })).toBe(200)
  const lapsed = await stored.events.pick(sql, ['execution_id'], { event_type: 'lapsed' })
  // The poison took other runs with it.
  expect(new Set(lapsed.map((row) => row.execution_id)).size).toBeGreaterThan(1)
})

test('on an embedded directory, one poison task beside 200 others is the only one that fails', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'flowfabric-poison-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const url = `file:${directory}`
  let answer: unknown = null
  let deaths = 0
  for (let mode = 'submit'; answer === null; mode = 'work') {
    const child = startChild(file, { args: [url, mode] })
    if (mode === 'submit') await child.next()
    answer = await answerOf(child)
    if (answer === null) deaths += 1
    else await child.ended
  }
  expect(answer).toEqual({ failed: [['poison', 'reclaim_limit']] })
  expect(deaths).toBeGreaterThanOrEqual(3)
})
