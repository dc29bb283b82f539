// What a worker logs about its runs: failures, retries and lost leases; at debug level also the start and end of each
// run.
import { expect, onTestFinished, test } from 'vitest'
import { attemptTimeout } from '../../src/engine/duties/attempt-timeout.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import type { Logger, LogLevel } from '../../src/model/logger.ts'
import { PermanentError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'
import { failing, flaky } from './threaded.ts'
import { working } from './working.ts'

interface Line {
  readonly level: LogLevel
  readonly message: string
  readonly fields: object | undefined
}

function logged() {
  const lines: Line[] = []
  const log = (level: LogLevel) => (message: string, fields?: object) => void lines.push({ level, message, fields })
  const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const above = (): string[] => lines.filter(({ level }) => level !== 'debug').map(shown)
  const debug = (): string[] => lines.filter(({ level }) => level === 'debug').map(shown)
  return { logger, lines, above, debug }
}

const shown = ({ level, message }: Line): string => `${level} ${message.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<id>')}`
const bare = (id: ExecutionId): string => parseExecutionId(id).uuid
const fixed = (attempts: number, delayMs: number | string) =>
  ({ retry: { attempts, backoff: { type: 'fixed', delayMs: delayMs as number } } }) as const
const fast = { interval: 10 }

function charge(): never {
  throw new RangeError('bank says no\n   twice', { cause: new Error('the account is empty') })
}

test('each failed attempt logs one warning, and the last one an error, with the step, the place and the next attempt', async () => {
  const { logger, lines, above } = logged()
  const order = task('order', fixed(2, '1h'), (ctx) => ctx.step('pay', charge))
  const { submit, worker, after } = await working([order], { logger })
  const { id } = await submit(order)
  await worker.tick()
  await after('1h')
  const place = String.raw`at charge \([^)]+failure-lines\.test\.ts:\d+:\d+\)`
  const failed = `failed in step "pay": bank says no twice: the account is empty, ${place}`
  expect(above()).toEqual([
    expect.stringMatching(new RegExp(`^warn order <id>: attempt 1 of 2 ${failed}; retry in \\S+ (min|h)$`)),
    expect.stringMatching(new RegExp(`^error order <id>: attempt 2 of 2 ${failed}; no attempts left$`)),
  ])
  const warning = lines.find(({ level }) => level === 'warn')!
  expect(warning.message).toContain(bare(id))
  expect(warning.fields).toEqual({
    executionId: bare(id),
    kind: 'order',
    attempt: 1,
    maxAttempts: 2,
    step: 'pay',
    retryInMs: expect.any(Number),
    error: { name: 'RangeError', message: 'bank says no\n   twice', stack: expect.stringContaining('at charge') },
  })
  expect(JSON.stringify(warning.fields)).not.toContain('/src/worker/')
})

test('the line of an error that no further attempt would fix says so, and shows any thrown value', async () => {
  const { logger, above } = logged()
  const throwing = task('throwing', fixed(3, 0), (_, how: string) => {
    if (how === 'permanent') throw new PermanentError('no such customer')
    if (how === 'word') throw 'a word'
    throw { get message() { throw new Error('hidden') } } // prettier-ignore
  })
  const { submit, runAll } = await working([throwing], { logger })
  await submit(throwing, 'permanent')
  await runAll()
  expect(above()).toEqual([
    expect.stringMatching(/^error throwing <id>: attempt 1 of 3 failed: no such customer, at .*; not retried$/),
  ])
  await submit(throwing, 'word')
  await runAll()
  expect(above().slice(1)).toEqual([
    'warn throwing <id>: attempt 1 of 3 failed: a word; retried now',
    'warn throwing <id>: attempt 2 of 3 failed: a word; retried now',
    'error throwing <id>: attempt 3 of 3 failed: a word; no attempts left',
  ])
  await submit(throwing, 'object')
  await runAll()
  expect(above()).toHaveLength(7)
})

test('failed tries of a step with its own retries are warnings; the last one is reported once, with the attempt', async () => {
  const { logger, above, debug } = logged()
  const mail = task('mail', { retry: { attempts: 1 } }, (ctx) => ctx.step('send', charge, fixed(3, 1)))
  const { submit, runAll } = await working([mail], { logger })
  await submit(mail)
  await runAll()
  expect(above()).toEqual([
    expect.stringMatching(
      /^warn mail <id>: try 1 of 3 of step "send" failed: bank says no .*, at charge .*; retry in 1 ms$/,
    ),
    expect.stringMatching(/^warn mail <id>: try 2 of 3 of step "send" failed: bank says no .*; retry in 1 ms$/),
    expect.stringMatching(/^error mail <id>: attempt 1 of 1 failed in step "send": bank says no .*; no attempts left$/),
  ])
  expect(debug()).toContainEqual(expect.stringMatching(/try 3 of 3 of step "send" failed: .*; not retried$/))
})

test('failures in a thread log the same lines, with their place in the code', async () => {
  const { logger, above } = logged()
  const { submit, worker } = await working([failing, flaky], { logger })
  await submit(failing, 'own')
  await worker.tick()
  expect(above()).toEqual([
    expect.stringMatching(
      /^error failing <id>: attempt 1 of 1 failed: out of it, at .*threaded\.ts:\d+:\d+\)?; no attempts left$/,
    ),
  ])
  await submit(flaky)
  await worker.tick()
  expect(above().slice(1)).toEqual([
    expect.stringMatching(/^warn flaky <id>: try 1 of \d+ of step "third time" failed: .*; (retry in|retried now)/),
    expect.stringMatching(/^warn flaky <id>: try 2 of \d+ of step "third time" failed: .*; (retry in|retried now)/),
  ])
})

test('a child that fails logs a line, and so does the parent that does not catch it', async () => {
  const { logger, above } = logged()
  const child = task('child', { retry: { attempts: 1 } }, charge)
  const parent = task('parent', { retry: { attempts: 1 } }, (ctx) => ctx.run(child))
  const { submit, runAll, after } = await working([child, parent], { logger })
  await submit(parent)
  await runAll()
  await after('1s')
  await expect.poll(() => above().length, fast).toBe(2)
  expect(above()).toEqual([
    expect.stringMatching(/^error child <id>: attempt 1 of 1 failed: bank says no .*, at charge .*; no attempts left$/),
    expect.stringMatching(
      /^error parent <id>: attempt 1 of 1 failed: child \S+ failed: bank says no .*; no attempts left$/,
    ),
  ])
})

test('a retry that the code requests is no warning, but its last attempt is an error', async () => {
  const { logger, above } = logged()
  const later = task('later', fixed(2, 0), (ctx) => ctx.retryIn('2h', 'the bank is closed'))
  const { submit, worker, after } = await working([later], { logger })
  await submit(later)
  await worker.tick()
  await after('2h')
  expect(above()).toEqual([
    expect.stringMatching(
      /^info later <id>: attempt 1 of 2 asked for a retry: the bank is closed; retry in (2|1\.9|12\d) (h|min)$/,
    ),
    'error later <id>: attempt 2 of 2 asked for a retry: the bank is closed; no attempts left',
  ])
})

function gated(options: object) {
  const gates: (() => void)[] = []
  const gate = task('gate', { retry: { attempts: 1 }, ...options }, async () => {
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  onTestFinished(() => gates.forEach((open) => open()))
  return { gate, gates }
}

test.each([
  [1, /^error gate <id>: attempt 1 of 1 timed out after 300 ms; no attempts left$/],
  [2, /^warn gate <id>: attempt 1 of 2 timed out after 300 ms; retried by its policy$/],
])('an attempt of %i that takes too long is reported as timed out', async (attempts, line) => {
  const { logger, above } = logged()
  const { gate, gates } = gated({ ...fixed(attempts, '1h'), attemptTimeout: '300ms' })
  const { submit, worker, sql } = await working([gate], { logger })
  await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  await expect.poll(async () => (await attemptTimeout.runOnce(sql)).processed, fast).toBe(1)
  await expect.poll(above, fast).toEqual([expect.stringMatching(line)])
})

test('a deadline that passes while the code runs is an error', async () => {
  const { logger, above } = logged()
  const { gate, gates } = gated({ deadline: '1h' })
  const { submit, worker, sql, clock } = await working([gate], { logger, leaseTtl: '1d' })
  await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  await clock.advance('2h')
  expect((await executionDeadline.runOnce(sql)).processed).toBe(1)
  await expect.poll(above, fast).toEqual(['error gate <id>: attempt 1 of 1 was ended, because the deadline has passed'])
})

test('a lost lease is a warning, and a cancel is none', async () => {
  const { logger, above } = logged()
  const { gate, gates } = gated({})
  const { submit, worker, engine } = await working([gate], { logger, concurrency: 1 })
  const run = await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  await engine.leases.revoke({ executionId: run.id, reason: 'maintenance' })
  await expect
    .poll(above, fast)
    .toEqual(['warn gate <id>: attempt 1 of 1 lost its lease, and its result is dropped: an operator revoked it'])
  await expect.poll(() => gates.length, fast).toBe(2)
  await run.cancel()
  await expect.poll(() => above().slice(1), fast).toEqual(['info gate <id>: attempt 1 of 1 was cancelled while it ran'])
})

test('start and end of a run are logged at debug', async () => {
  const { logger, above, debug } = logged()
  const nap = task('nap', fixed(2, '1h'), async (ctx) => {
    await ctx.sleep('rest', '1h')
    if (ctx.attemptIndex === 0) throw new Error('tired')
  })
  const { submit, worker, after } = await working([nap], { logger })
  await submit(nap)
  await worker.tick()
  await after('1h')
  await after('1h')
  expect(debug().map((line) => line.replace(/after .*/, 'after'))).toEqual([
    'debug nap <id>: attempt 1 of 2 starts (first)',
    'debug nap <id>: attempt 1 of 2 delayed after',
    'debug nap <id>: attempt 1 of 2 starts (resume)',
    'debug nap <id>: attempt 1 of 2 threw after',
    'debug nap <id>: attempt 2 of 2 starts (retry)',
    'debug nap <id>: attempt 2 of 2 returned after',
  ])
  expect(above()).toHaveLength(1)
})

test('recorded steps that changed code does not reach log one warning when the run has returned', async () => {
  const { logger, lines, above } = logged()
  let isOld = true
  const order = task('order', fixed(2, 0), async (ctx) => {
    await ctx.step('kept', () => 1)
    if (!isOld) return
    await Promise.all([ctx.step('b', () => 2), ctx.sleepUntil('c', new Date(1000))])
    throw new Error('deployed anew')
  })
  const { submit, worker } = await working([order], { logger })
  const { id } = await submit(order)
  await worker.tick()
  isOld = false
  await worker.tick()
  expect(above()).toEqual([
    expect.stringContaining('deployed anew'),
    'warn order <id>: recorded step "b", sleep "c" were not reached by the current code; give changed code a new version',
  ])
  expect(lines.findLast(({ level }) => level === 'warn')!.fields).toMatchObject({
    executionId: bare(id),
    steps: ['b', 'c'],
  })
})
