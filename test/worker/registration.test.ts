import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { ClaimRequest } from '../../src/engine/execution/claimer.ts'
import { task } from '../../src/worker/task.ts'
import type { WorkerOptions } from '../../src/worker/options.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup } from '../support/setup.ts'
import { working } from './working.ts'

const fast = { interval: 10 }
const plain = task('plain', () => 'done')

test('a worker is registered with the kinds that it serves while it runs, and removed when it has stopped', async () => {
  const second = task('versioned', { version: '2', lane: 'slow' }, () => 'done')
  const { worker, engine } = await working([plain, second], { name: 'mailer', capabilities: ['gpu'] })
  expect((await engine.workers.list()).workers).toEqual([])
  await worker.start()
  const registered = async () => (await engine.workers.list()).workers
  await expect.poll(registered, fast).toMatchObject([
    {
      workerId: 'mailer',
      workerInstanceId: worker.instanceId,
      namespace: null,
      lanes: ['default', 'slow'],
      kinds: ['plain', 'versioned'],
      versions: ['2'],
      capabilities: ['gpu'],
      pid: process.pid,
    },
  ])
  await worker.stop()
  expect(await registered()).toEqual([])
})

test('a worker of several namespaces is registered in each of them', async () => {
  const { worker, engine } = await working([plain], { namespaces: ['a', 'b'] })
  await worker.start()
  const namespaces = async () => (await engine.workers.list()).workers.map((one) => one.namespace)
  await expect.poll(namespaces, fast).toEqual(['a', 'b'])
  await worker.stop()
  expect(await namespaces()).toEqual([])
})

test('explain reports the missing worker until one that serves the execution has started', async () => {
  const { worker, engine, submit } = await working([plain])
  const run = await submit(plain, undefined, { version: '7' })
  const before = await engine.executions.explain(run.id)
  expect(before?.sentence).toContain("no registered worker serves lane 'default'")
  await worker.start()
  await expect.poll(async () => (await engine.workers.list()).workers.length, fast).toBe(1)
  const without = await engine.executions.explain(run.id)
  expect(without?.sentence).toContain("but none serves version '7' of 'plain'")
  const versioned = new Worker(
    { tasks: [task('plain', { version: '7' }, () => 'done')], lanes: ['elsewhere', 'default'], handleSignals: false },
    { engine },
  )
  onTestFinished(() => versioned.stop({ grace: 0 }))
  await versioned.start()
  expect(await run.result()).toBe('done')
})

/** An engine that records the claims it receives. */
function listening(engine: Engine) {
  const claims: ClaimRequest[] = []
  const watched: Engine = {
    ...engine,
    executions: {
      ...engine.executions,
      claim: (request) => {
        claims.push(request)
        return engine.executions.claim(request)
      },
    },
  }
  return { watched, claims }
}

test('a worker without a free slot ignores hints: it claims again when a run has ended', async () => {
  const gates: (() => void)[] = []
  const gate = task('gate', () => new Promise<void>((resolve) => gates.push(resolve)))
  const { engine } = await setup()
  const { watched, claims } = listening(engine)
  const worker = new Worker({ tasks: [gate], concurrency: 1, handleSignals: false }, { engine: watched })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await worker.start()
  await engine.executions.create({ kind: 'gate' })
  await expect.poll(() => gates.length, fast).toBe(1)
  const claimsBefore = claims.length
  for (let each = 1; each <= 10; each += 1) await engine.executions.create({ kind: 'gate' })
  expect(claims.length).toBe(claimsBefore)
  gates[0]!()
  await expect.poll(() => gates.length, fast).toBe(2)
  expect(claims.length).toBe(claimsBefore + 1)
})

test('a worker without peers follows a hint at once; with peers each waits a random while', async () => {
  const { engine } = await setup()
  const { watched, claims } = listening(engine)
  const start = async (...tasks: WorkerOptions['tasks'][number][]): Promise<void> => {
    const worker = new Worker({ tasks, handleSignals: false }, { engine: watched })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const before = (await engine.workers.list()).workers.length
    await worker.start()
    await expect.poll(async () => (await engine.workers.list()).workers.length, fast).toBe(before + 1)
  }
  await start(plain)
  await expect.poll(() => claims.map((request) => request.spread), fast).toEqual([0])
  await start(
    plain,
    task('other', () => 'done'),
  )
  // The first worker counts its peers at its next registration, so it cannot take these.
  const spreads = async () => {
    await engine.executions.create({ kind: 'other' })
    return claims.map((request) => request.spread)
  }
  await expect.poll(spreads, fast).toContain(2)
})
