// One task kills its process whenever it runs. The others that start beside it die with it, again and again at first. Only
// the task at fault fails.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startChild, type Child } from '../support/child.ts'
import { rows } from '../support/raw.ts'
import { setup, type Fixture } from '../support/setup.ts'

const file = new URL('./poison.child.ts', import.meta.url)

async function answerOf(child: Child): Promise<unknown> {
  return child.next().catch(() => null)
}

/** No execution runs and none is ready: only time is missing. */
async function moveClock({ sql, clock }: Fixture): Promise<void> {
  const [found] = await rows(
    sql,
    `select (select count(*) from flowfabric.ff_lease) + (select count(*) from flowfabric.ff_ready) as busy`,
  )
  if (Number(found!['busy']) === 0) await clock.advance('100ms')
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
  const counts = await rows(
    sql,
    `select public_state, count(*)::int4 as count from flowfabric.ff_exec_core group by 1 order by 2`,
  )
  expect(counts).toEqual([
    { public_state: 'failed', count: 1 },
    { public_state: 'completed', count: 200 },
  ])
  const [dead] = await rows(
    sql,
    `select count(distinct execution_id)::int4 as count from flowfabric.ff_event where event_type = 'lapsed'`,
  )
  // The poison took other runs with it.
  expect(dead!['count']).toBeGreaterThan(1)
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
