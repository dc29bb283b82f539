// `CRASH_SECONDS=60 npx vitest run --project races test/crash/durable.test.ts` kills for a minute.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { jsonCodec } from '../../src/model/codec.ts'
import { startChild, type Child } from '../support/child.ts'
import { setup } from '../support/setup.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'
import { resultsWithSteps } from '../support/reads.ts'

const seconds = Number(process.env['CRASH_SECONDS'] ?? 5)
const workerCount = 2
const fewestKills = 3

test('worker processes are killed at random under load: every execution ends, and no step is recorded twice', async () => {
  const { engine, sql, url } = await setup()
  const start = (): Child => startChild(new URL('./durable.child.ts', import.meta.url), { args: [url] })
  const workers = Array.from({ length: workerCount }, start)
  await Promise.all(workers.map((worker) => worker.next()))
  let submitted = 0
  const submit = async (count: number): Promise<void> => {
    const requests = Array.from({ length: count }, () => {
      const { bytes } = jsonCodec.encode((submitted += 1))
      const policy = { retry: { attempts: 5, backoff: { type: 'fixed', delayMs: 20 } } } as const
      return { kind: 'three-steps', payload: bytes, policy }
    })
    await engine.executions.createMany(requests)
  }
  const takenOver = async (): Promise<number> => (await stored.leaseEvents.all(sql, { event_type: 'reclaimed' })).length
  const until = performance.now() + seconds * 1000
  // A victim may hold no execution: the loop continues until one held some.
  for (let killed = 0; killed < fewestKills || performance.now() < until || (await takenOver()) === 0; killed += 1) {
    await submit(100)
    await sleep(50 + Math.random() * 300)
    // The process to kill: the one that has worked for longest, while its successor starts.
    const [victim] = workers.splice(0, 1)
    const next = start()
    await victim!.kill()
    await next.next()
    workers.push(next)
  }
  await expect
    .poll(async () => (await stored.executions.all(sql, `lifecycle_phase <> 'terminal'`)).length, {
      timeout: patience(120_000),
      interval: 200,
    })
    .toBe(0)
  await Promise.all(workers.map((worker) => worker.kill('SIGTERM')))

  const ended = await resultsWithSteps(sql)
  expect(ended).toHaveLength(submitted)
  for (const { public_state: state, result, steps } of ended) {
    expect(state).toBe('completed')
    const [one, two, three, four] = JSON.parse(result as string) as string[]
    // The last run received the results that were recorded first, whichever worker recorded them.
    expect(steps).toBe(`four="${four}" one="${one}" three="${three}" two="${two}"`)
  }
  expect(await takenOver()).toBeGreaterThan(0)
})

test('SIGTERM: a worker finishes its running work, gives back the rest, and ends by the signal', async () => {
  const { engine, sql, url } = await setup()
  const worker = startChild(new URL('./durable.child.ts', import.meta.url), { args: [url] })
  await worker.next()
  const requests = Array.from({ length: 500 }, (_, number) => {
    const { bytes } = jsonCodec.encode(number)
    const policy = { retry: { attempts: 5, backoff: { type: 'fixed', delayMs: 20 } } } as const
    return { kind: 'three-steps', payload: bytes, policy }
  })
  await engine.executions.createMany(requests)
  await expect.poll(async () => (await engine.executions.countByState()).completed.count).toBeGreaterThan(20)
  await worker.kill('SIGTERM')
  expect(await worker.ended).toBe('SIGTERM')
  // No execution waits for a lease to expire.
  expect(await stored.leases.all(sql)).toEqual([])
  expect(await stored.events.all(sql, { event_type: 'lapsed' })).toEqual([])
})
