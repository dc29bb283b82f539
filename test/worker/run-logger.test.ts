// `ctx.logger`: the fields of its lines, and which lines are printed when code runs again.
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { createLogger, format, transports } from 'winston'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseExecutionId } from '../../src/model/id.ts'
import type { Logger, LogLevel } from '../../src/model/logger.ts'
import { task } from '../../src/worker/task.ts'
import { logging } from './threaded.ts'
import { working } from './working.ts'

function logged() {
  const lines: [string, object | undefined][] = []
  const log = (level: LogLevel) => (message: string, fields?: object) => {
    if (/^[A-Z]/.test(message)) lines.push([`${level} ${message}`, fields])
  }
  const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  return { logger, lines, messages: () => lines.map(([message]) => message.replace('info ', '')) }
}

const fixed = (attempts: number) => ({ retry: { attempts, backoff: { type: 'fixed', delayMs: 0 } } }) as const

test('lines carry the execution, its kind, the attempt and the step, and fields of their own', async () => {
  const { logger, lines } = logged()
  const order = task('order', fixed(3), async (ctx) => {
    ctx.logger.info('Begins', { customer: 7 })
    await ctx.step('pay', () => ctx.logger.warn('Pays'))
  })
  const { submit, runAll } = await working([order], { logger })
  const { id } = await submit(order)
  await runAll()
  const about = { executionId: parseExecutionId(id).uuid, kind: 'order', attempt: 1, maxAttempts: 3 }
  expect(lines).toEqual([
    ['info Begins', { ...about, customer: 7 }],
    ['warn Pays', { ...about, step: 'pay' }],
  ])
})

test('code that runs again after sleeps and waits prints no line twice, and loses none', async () => {
  const { logger, messages } = logged()
  const child = task('child', () => 'done')
  const journey = task('journey', async (ctx) => {
    ctx.logger.info('A')
    await ctx.step('one', () => ctx.logger.info('In step one'))
    ctx.logger.info('B')
    const sleeping = ctx.sleep('night', '1h')
    ctx.logger.info('C')
    await sleeping
    ctx.logger.info('D')
    const answer = ctx.waitFor('go')
    ctx.logger.info('E')
    await answer
    ctx.logger.info('F')
    await ctx.run(child)
    ctx.logger.info('G')
    await ctx.race([ctx.waitFor('never'), ctx.sleep('short', '1m')])
    ctx.logger.info('H')
    await ctx.waitFor('late', { timeout: '1h', onTimeout: () => ctx.logger.info('In timeout') })
    ctx.logger.info('I')
    await ctx.step('two', () => ctx.logger.info('In step two'))
    ctx.logger.info('J')
  })
  const { submit, runAll, after } = await working([journey, child], { logger })
  const run = await submit(journey)
  await runAll()
  expect(messages()).toEqual(['A', 'In step one', 'B', 'C'])
  await after('1h')
  expect(messages().slice(4)).toEqual(['D', 'E'])
  await run.signal('go')
  await runAll()
  await expect.poll(async () => runAll().then(() => messages().at(-1))).toBe('G')
  await after('1m')
  await after('1h')
  expect(await run.result()).toBeUndefined()
  expect(messages().slice(6)).toEqual(['F', 'G', 'H', 'In timeout', 'I', 'In step two', 'J'])
})

test('a new attempt prints the lines after its last record, and the tries of a step print each time', async () => {
  const { logger, lines } = logged()
  const flaky = task('flaky', fixed(2), async (ctx) => {
    ctx.logger.info('A')
    await ctx.step('one', () => 1)
    ctx.logger.info('B')
    await ctx.step(
      'two',
      ({ tryCount }) => {
        ctx.logger.info('Tries')
        if (tryCount === 1) throw new Error('once')
      },
      { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 1 } } },
    )
    ctx.logger.info('C')
    if (ctx.attemptIndex === 0) throw new Error('failed')
    ctx.logger.info('D')
  })
  const { submit, runAll } = await working([flaky], { logger })
  await submit(flaky)
  await runAll()
  expect(lines.map(([line, fields]) => `${(fields as { attempt: number }).attempt} ${line}`)).toEqual([
    '1 info A',
    '1 info B',
    '1 info Tries',
    '1 info Tries',
    '1 info C',
    '2 info C',
    '2 info D',
  ])
})

test('a run that was given back after a wait prints the lines after the wait', async () => {
  const { logger, messages } = logged()
  const gates: (() => void)[] = []
  onTestFinished(() => gates.forEach((open) => open()))
  const waiting = task('waiting', async (ctx) => {
    ctx.logger.info('A')
    await ctx.waitFor('go')
    ctx.logger.info('B')
    if (gates.length === 0) await new Promise<void>((resolve) => gates.push(resolve))
    ctx.logger.info('C')
  })
  const { submit, runAll, another, worker } = await working([waiting], { logger })
  const run = await submit(waiting)
  await runAll()
  await run.signal('go')
  const first = another({})
  const ticking = first.tick()
  await expect.poll(() => gates.length, { interval: 10 }).toBe(1)
  await first.stop({ grace: 0 })
  await ticking
  await worker.tick()
  expect(await run.result()).toBeUndefined()
  expect(messages()).toEqual(['A', 'B', 'B', 'C'])
})

test('lines from a thread carry the same fields', async () => {
  const { logger, lines } = logged()
  const { submit, runAll } = await working([logging], { logger })
  const { id } = await submit(logging)
  await runAll()
  const about = { executionId: parseExecutionId(id).uuid, kind: 'logging', attempt: 1, maxAttempts: 1 }
  expect(lines).toEqual([
    ['info Begins', { ...about, customer: 7 }],
    ['warn In a step', { ...about, step: 'pay', fields: expect.stringContaining('[Function') }],
    ['info Ends', about],
  ])
})

function stream(): { readonly stream: Writable; readonly read: () => Record<string, unknown>[] } {
  const written: string[] = []
  const made = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(...chunk.toString().trim().split('\n'))
      done()
    },
  })
  return { stream: made, read: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

const greet = task('greet', { retry: { attempts: 1 } }, async (ctx) => {
  ctx.logger.info('Begins', { customer: 7 })
  await ctx.step('pay', () => {
    throw new Error('bank says no')
  })
})
const about = { kind: 'greet', attempt: 1, maxAttempts: 1 }
const error = { name: 'Error', message: 'bank says no', stack: expect.stringContaining('run-logger.test.ts') }
const failed = expect.stringMatching(
  /^greet \S+: attempt 1 of 1 failed in step "pay": bank says no, at .*; no attempts left$/,
)

async function run(logger: Logger): Promise<void> {
  const { submit, runAll } = await working([greet], { logger })
  await submit(greet)
  await runAll()
}

test('pino receives messages and fields of a run as its own', async () => {
  const { stream: out, read } = stream()
  await run(pino({ level: 'info' }, out))
  expect(read()).toMatchObject([
    { level: 30, msg: 'Begins', customer: 7, ...about },
    { level: 50, msg: failed, step: 'pay', error, ...about },
  ])
})

test('winston receives messages and fields of a run as its own', async () => {
  const { stream: out, read } = stream()
  await run(createLogger({ format: format.json(), transports: [new transports.Stream({ stream: out })] }))
  expect(read()).toMatchObject([
    { level: 'info', message: 'Begins', customer: 7, ...about },
    { level: 'error', message: failed, step: 'pay', error, ...about },
  ])
})

test('console receives messages and fields of a run', async () => {
  onTestFinished(() => void vi.restoreAllMocks())
  const info = vi.spyOn(console, 'info').mockImplementation(() => {})
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  await run(console)
  expect(info.mock.calls).toEqual([['Begins', expect.objectContaining({ ...about, customer: 7 })]])
  expect(errors.mock.calls).toEqual([[failed, expect.objectContaining({ ...about, step: 'pay', error })]])
})
