// Tasks in real threads; their code is in threaded.ts.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { threadId } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { ExecutionId } from '../../src/model/id.ts'
import type { Logger } from '../../src/sql/logger.ts'
import { task } from '../../src/worker/task.ts'
import {
  asked,
  careless,
  drawing,
  durable,
  endless,
  failing,
  flaky,
  forgetful,
  large,
  nesting,
  spinning,
  takenApart,
  where,
} from './threaded.ts'
import { recordedBy, working, type Working } from './working.ts'

const tasks = [
  asked,
  careless,
  drawing,
  durable,
  endless,
  failing,
  flaky,
  forgetful,
  large,
  nesting,
  spinning,
  takenApart,
  where,
]
const patient = { interval: 20 }

const hasBegun = ({ engine }: Working, id: ExecutionId) =>
  expect.poll(async () => (await engine.executions.describe(id))?.progress?.percent, patient).toBe(1)

test('a task with `thread` runs in a thread of its own, and the next run uses the same thread', async () => {
  const { submit, runAll } = await working(tasks, { concurrency: 1 })
  const runs = [await submit(where), await submit(where)]
  await runAll()
  const [first, second] = [await runs[0]!.result(), await runs[1]!.result()]
  expect(first).not.toBe(threadId)
  expect(second).toBe(first)
})

test('a thread that computes for several times its lease keeps it', async () => {
  const { submit, worker, engine } = await working(tasks, { leaseTtl: '2s' })
  const run = await submit(spinning, 5000)
  await worker.tick()
  expect(await run.result()).toBe('spun')
  expect((await engine.attempts.list(run.id)).attempts).toHaveLength(1)
})

test('a cancel ends a thread that never yields', async () => {
  const fixture = await working(tasks)
  const { submit, worker } = fixture
  const run = await submit(endless)
  const ticked = worker.tick()
  await hasBegun(fixture, run.id)
  await run.cancel({ reason: 'enough' })
  await ticked
  expect(worker.running).toBe(0)
  expect(await run.state()).toBe('cancelled')
  const next = await submit(where)
  await worker.tick()
  expect(await next.result()).not.toBe(threadId)
})

test('a thread that never yields ends with its worker, and another worker claims the execution', async () => {
  const fixture = await working(tasks)
  const { submit, worker, engine } = fixture
  const run = await submit(endless)
  const ticked = worker.tick()
  await hasBegun(fixture, run.id)
  await worker.stop({ grace: 0 })
  await ticked
  expect(await run.state()).toBe('waiting')
  expect((await engine.attempts.list(run.id)).attempts[0]).toMatchObject({ outcome: 'released' })
})

test('a lost lease ends the thread', async () => {
  const fixture = await working(tasks)
  const { submit, worker, engine } = fixture
  const run = await submit(endless)
  const ticked = worker.tick()
  await hasBegun(fixture, run.id)
  await engine.leases.revoke({ executionId: run.id })
  await ticked
  expect(await run.state()).toBe('waiting')
})

test('code in a thread receives a stop request, and may still finish', async () => {
  const fixture = await working(tasks)
  const { submit, worker } = fixture
  const run = await submit(asked)
  const ticked = worker.tick()
  await hasBegun(fixture, run.id)
  await run.cancel({ grace: '1h' })
  await ticked
  expect(await run.result()).toMatch(/was asked to stop; finish or clean up within the grace period$/)
})

test('steps, records, random values, keys, progress, log lines and retries of a thread work as in any run', async () => {
  const lines: string[] = []
  const logger: Logger = { debug() {}, warn() {}, error() {}, info: (line) => void lines.push(line) }
  const { submit, runAll, after, engine } = await working(tasks, { logger })
  const run = await submit(durable, { start: 4 })
  await runAll()
  expect(await run.state()).toBe('delayed')
  await after('2s')
  const result = await run.result()
  const keys = { keys: `${run.id}:0:keys:0`, key: `${run.id}:key:0:keys` }
  expect(result).toMatchObject({ twice: 8, id: run.id, attempt: 1, ...keys })
  // The first attempt returned its random value as the reason for the retry.
  expect((await engine.attempts.list(run.id)).attempts[0]!.failureReason).toBe(result.uuid)
  // The second attempt has records ahead of the line, so it is not printed again.
  expect(lines).toEqual(['begins', expect.stringContaining('attempt 1 of 5 asked for a retry')])
  expect(await recordedBy(engine, run.id)).toEqual([
    'step twice: succeeded',
    'step keys: succeeded',
    'value ctx.now: succeeded',
  ])
  expect((await engine.executions.describe(run.id))!.progress).toMatchObject({ percent: 50, message: 'half of it' })
})

test('the methods of the context of a thread work without their object', async () => {
  const { submit, runAll } = await working(tasks)
  const run = await submit(takenApart)
  await runAll()
  expect(await run.result()).toEqual({ step: 1, now: 'number', uuid: 36, key: `${run.id}:key:0:key` })
})

test('tries of a step in a thread are limited, recorded and repeated', async () => {
  const { submit, runAll, engine } = await working(tasks)
  const run = await submit(flaky)
  await runAll()
  expect(await run.result()).toBe(3)
  expect((await engine.steps.list(run.id)).steps[0]).toMatchObject({ tryCount: 3, state: 'succeeded' })
})

test('values that a schema rejects in a thread fail the run', async () => {
  const { submit, runAll, engine } = await working(tasks)
  const run = await submit(durable, { start: 0.2 })
  await runAll()
  expect((await engine.attempts.list(run.id)).attempts[0]!.failureReason).toBe(
    'the result of step "twice" is refused by its schema: expected a count',
  )
})

test.for([
  ['permanent', { reason: 'never: because', error: { name: 'PermanentError', cause: { name: 'TypeError' } } }],
  ['own', { reason: 'out of it', error: { name: 'RangeError', details: { limit: 7 } } }],
  ['value', { reason: 'a word' }],
  ['sleep', { reason: expect.stringMatching(/^ctx\.sleep cannot be used in a thread/) }],
  ['run', { reason: expect.stringMatching(/^ctx\.run cannot be used in a thread/) }],
  ['spawn', { reason: expect.stringMatching(/^ctx\.spawn cannot be used in a thread/) }],
  ['compensate', { reason: expect.stringMatching(/^ctx\.compensate cannot be used in a thread/) }],
  ['function', { reason: expect.stringMatching(/^what the handler gave cannot go from thread to thread/) }],
  ['exit', { reason: 'the thread has ended in the middle of a run, with exit code 3' }],
] as const)('a thread that fails by %s fails its run as a handler outside of a thread does', async ([how, details]) => {
  const { submit, runAll } = await working(tasks)
  const run = await submit(failing, how)
  await runAll()
  await expect(run.result()).rejects.toMatchObject({ code: 'execution_failed', details })
})

test("an error of a step is caught in the thread as that step's error, and a cancel arrives as a cancel", async () => {
  const { submit, runAll } = await working(tasks)
  const runs = [await submit(failing, 'step'), await submit(failing, 'cancel')]
  await runAll()
  expect(await runs[0]!.result()).toBe('step: TypeError')
  expect(await runs[1]!.state()).toBe('cancelled')
})

test('the error for a task that its module does not export, or for a thread without a module, says what to do', async () => {
  const hidden = task('hidden', { thread: new URL('./threaded.ts', import.meta.url), retry: { attempts: 1 } }, () => 1)
  const { submit, runAll } = await working([hidden])
  const run = await submit(hidden)
  await runAll()
  await expect(run.result()).rejects.toMatchObject({
    details: { reason: expect.stringMatching(/exports no task "hidden", which is to run in a thread; export it/) },
  })
  expect(() => task('nowhere', { thread: 'there' }, () => 1)).toThrow(
    /^thread is "there"; it must be true, or import\.meta\.url of the module that exports the task$/,
  )
})

test('random values drawn inside of a step in a thread do not shift later ones', async () => {
  const { submit, runAll, after, engine } = await working(tasks)
  const run = await submit(drawing)
  await runAll()
  await after('1s')
  const uuid = await run.result()
  expect((await engine.attempts.list(run.id)).attempts[0]!.failureReason).toBe(uuid)
})

test('a step or a time inside of a step is refused in a thread as elsewhere', async () => {
  const { submit, runAll } = await working(tasks)
  const runs = [await submit(nesting, 'step'), await submit(nesting, 'now')]
  await runAll()
  await expect(runs[0]!.result()).rejects.toThrow(
    'the step "inner" is inside step "outer", and a step is recorded as a whole',
  )
  await expect(runs[1]!.result()).rejects.toThrow('ctx.now() is inside step "outer", and a step is recorded as a whole')
})

test('a call that the engine refuses and no code awaits does not end the thread', async () => {
  const { submit, runAll } = await working(tasks)
  const run = await submit(careless)
  await runAll()
  expect(await run.result()).toBe('done')
})

test('a thread that is kept for the next run keeps no state of earlier runs', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { submit, runAll } = await working(tasks, { concurrency: 1 })
  const used = async (runs: number): Promise<number> => {
    for (let done = 0; done < runs; done += 1) {
      await submit(large)
      await runAll()
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = await used(5)
  expect((await used(40)) - before).toBeLessThan(10_000_000)
})

test('a step that a thread never awaited is reported as in the worker', async () => {
  const { submit, runAll, another } = await working(tasks)
  const [warned, failed] = [await submit(forgetful, false), await submit(forgetful, true)]
  await runAll()
  expect(await warned.result()).toBe('done')
  await expect(failed.result()).rejects.toThrow('step "slow" was never awaited (did you forget await?) and failed: ')
  const refused = await submit(forgetful, false)
  await another({ unawaited: 'fail' }).tick()
  await expect(refused.result()).rejects.toThrow('returned while step "slow" was still running; did you forget await?')
})
