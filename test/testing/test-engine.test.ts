// The operations of the test kit for durable code.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { testEngine } from '../../src/testing.ts'
import { task } from '../../src/worker/task.ts'
import { effects, onboard, sendWelcome } from './tasks.ts'

const tasks = [onboard, sendWelcome]

beforeEach(() => void effects.splice(0))

test('a run goes as far as it can, and continues when the test advances the time or sends a signal', async () => {
  await using t = await testEngine({ tasks, now: '2026-03-01T09:00:00Z' })
  const run = await t.submit(onboard, { email: 'ada' })
  expect(await run.state()).toBe('delayed')
  expect(new Date(t.now).toISOString()).toBe('2026-03-01T09:00:00.000Z')
  await t.advance('10m')
  expect(await run.state()).toBe('suspended')
  await expect(run.result()).rejects.toThrow(
    /waiting for .*approval.*Advance the time with t.advance, or send a signal/s,
  )
  await t.signal(run, 'approval', { approved: true })
  expect(await run.result()).toEqual({ account: 'account of ada', mail: 'sent to ada' })
  expect(effects).toEqual(['account ada', 'welcome ada'])
  expect(t.now).toBe(Date.parse('2026-03-01T09:10:00Z'))
})

test('t.run advances the time as far as necessary, and throws as result() does', async () => {
  await using t = await testEngine({ tasks, now: 0 })
  await expect(t.run(onboard, { email: 'ada' })).rejects.toMatchObject({
    code: 'execution_failed',
    message: expect.stringContaining('the wait "approval" timed out'),
  })
  // Ten minutes and two days. A wait that timed out fails for good, so there is no second attempt.
  expect(t.now).toBe(10 * 60_000 + 2 * 86_400_000)
  expect(await t.run(sendWelcome, { to: 'grace' })).toBe('sent to grace')
  await expect(t.run(onboard, { email: '' })).rejects.toMatchObject({ code: 'execution_failed' })
})

test('a close stops the workers and supervisors that the test started', async () => {
  const quick = task('quick', () => 'done')
  const other = task('other', () => 'done')
  const t = await testEngine({ tasks: [quick] })
  const claims: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void claims.push(message) }
  const worker = t.ff.worker({ tasks: [other], handleSignals: false, logger })
  await worker.start()
  t.ff.supervise()
  await t.close()
  await expect(worker.start()).rejects.toMatchObject({ code: 'engine_closed' })
  expect(claims).toEqual([])
})

test('the timeout of a step may be longer than a timer allows', async () => {
  const patient = task('patient', (ctx) => ctx.step('wait', () => sleep(20, 'done'), { timeout: '30d' }))
  await using t = await testEngine({ tasks: [patient] })
  const run = await t.submit(patient)
  await expect.poll(() => run.result().catch(() => null)).toBe('done')
})

test('t.run throws for a run that waits only for a signal, instead of waiting for it', async () => {
  const ask = task('ask', async (ctx) => ctx.waitFor('answer'))
  await using t = await testEngine({ tasks: [ask] })
  await expect(t.run(ask)).rejects.toMatchObject({ code: 'wait_timed_out' })
})

test('timers fire in the order of time, whatever set them, and each at its moment', async () => {
  const seen: string[] = []
  const at = async (ctx: { now(): Promise<number> }, what: string): Promise<void> =>
    void seen.push(`${what} ${(await ctx.now()) / 60_000}`)
  const sleeper = task('sleeper', async (ctx, minutes: number) => {
    await ctx.sleep('rest', minutes * 60_000)
    await at(ctx, `slept ${minutes}`)
  })
  const tick = task('tick', (ctx) => at(ctx, 'tick'))
  const late = task('late', { deadline: '25m' }, async (ctx) => void (await ctx.waitFor('nothing')))
  await using t = await testEngine({ tasks: [sleeper, tick, late], now: 0 })
  const run = await t.submit(late)
  for (const minutes of [30, 10, 20]) await t.submit(sleeper, minutes)
  await t.ff.schedules.put('ticks', { task: tick, every: '15m' })
  await t.advance('24m')
  expect(seen).toEqual(['slept 10 10', 'tick 15', 'slept 20 20'])
  expect(await run.state()).toBe('suspended')
  await t.advance('6m')
  expect(await run.state()).toBe('expired')
  expect(seen.slice(3).toSorted()).toEqual(['slept 30 30', 'tick 30'])
})

test('retries of steps and of the task happen when the test advances the time, and no sooner', async () => {
  await using t = await testEngine({ tasks, now: 0 })
  t.mockOnce(onboard, 'create account', new Error('busy'))
  const run = await t.submit(onboard, { email: 'ada' })
  expect(await run.state()).toBe('delayed')
  await t.advance(1999)
  expect(effects).toEqual([])
  await t.advance(1)
  expect(effects).toEqual(['account ada'])
  const history = await run.history()
  history.assertSteps([{ name: 'create account', tries: 2, state: 'succeeded' }, 'cool off'])
})

test('a mock is a value, an error or a function that may call the original; once or always', async () => {
  await using t = await testEngine({ tasks })
  t.mock(sendWelcome, 'send', undefined)
  expect(await t.run(sendWelcome, { to: 'a' })).toBe('sent to a')
  expect(effects).toEqual([])
  t.mockOnce(sendWelcome, 'send', () => void effects.push('instead'))
  t.mockOnce(sendWelcome, 'send', (attempt, original) => {
    effects.push(`before try ${attempt.tryCount}`)
    return original()
  })
  for (const to of ['b', 'c', 'd']) await t.run(sendWelcome, { to })
  expect(effects).toEqual(['instead', 'before try 1', 'welcome c'])
  t.mock(sendWelcome, 'send', new TypeError('no mail today'))
  await expect(t.run(sendWelcome, { to: 'e' })).rejects.toThrow('no mail today')
})

test('a task can be mocked as a whole', async () => {
  await using t = await testEngine({ tasks })
  t.mockTask(sendWelcome, (_, { to }) => `pretended to send to ${to}`)
  const run = await t.submit(onboard, { email: 'ada' })
  await run.signal('approval', { approved: true })
  await t.advance('10m')
  expect(await run.result()).toMatchObject({ mail: 'pretended to send to ada' })
})

test('a mock of a name that the code never reaches is refused, and the error names those that it reached', async () => {
  await using t = await testEngine({ tasks })
  const elsewhere = task('send-welcom', () => {})
  expect(() => t.mock(elsewhere, 'send', 1)).toThrow('does not run a task "send-welcom"; did you mean "send-welcome"?')
  // The name is in the code, on a path that this run does not take.
  t.mock(onboard, 'approval', 1)
  t.mock(sendWelcome, 'sends', 1)
  await expect(t.run(sendWelcome, { to: 'a' })).rejects.toThrow(
    'task "send-welcome" did not reach the mocked step "sends"; did you mean "send"?',
  )
})

test('a worker that crashes in a step drops it there; the next one continues from the recorded steps', async () => {
  const caught: unknown[] = []
  const book = task('book', async (ctx) => {
    await ctx.step('reserve', () => void effects.push('reserve'))
    try {
      await ctx.step('charge', () => void effects.push('charge'))
    } catch (error) {
      caught.push(error)
    }
    return 'booked'
  })
  await using t = await testEngine({ tasks: [book] })
  t.mockOnce(book, 'charge', async (_, original) => {
    original()
    await t.crashWorker()
  })
  const run = await t.submit(book)
  expect(await run.result()).toBe('booked')
  expect(effects).toEqual(['reserve', 'charge', 'charge'])
  expect(caught).toEqual([])
  const history = await run.history()
  history.assertSteps([
    { kind: 'step', name: 'reserve', tries: 1 },
    { kind: 'step', name: 'charge', tries: 1 },
  ])
  history.assertTimeline(['acquired', 'lapsed', 'acquired', 'ended'])
})

test('a worker that crashes between runs loses nothing', async () => {
  await using t = await testEngine({ tasks })
  const run = await t.submit(onboard, { email: 'ada' })
  await t.crashWorker()
  await t.advance('10m')
  await t.crashWorker()
  await t.signal(run, 'approval', { approved: true })
  expect(await run.result()).toMatchObject({ account: 'account of ada' })
  expect(effects).toEqual(['account ada', 'welcome ada'])
})

test('a try that hangs ends at its timeout, by the clock of the test', async () => {
  const call = task('call', (ctx) => ctx.step('call', () => new Promise<string>(() => {}), { timeout: '10h' }))
  await using t = await testEngine({ tasks: [call], now: 0 })
  const run = await t.submit(call)
  expect(await run.state()).toBe('active')
  await t.advance('9h')
  expect(await run.state()).toBe('active')
  t.mock(call, 'call', 'an answer')
  await t.advance('2h')
  expect(await run.result()).toBe('an answer')
  const history = await run.history()
  history.assertTimeline(['acquired', 'retried', 'acquired', 'ended'])
})

test('a cancel reaches running code, and its result is dropped', async () => {
  let reason: unknown
  const call = task('call', (ctx) =>
    ctx.step(
      'call',
      ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve((reason = signal.reason)))),
      {
        timeout: '1h',
      },
    ),
  )
  await using t = await testEngine({ tasks: [call] })
  const run = await t.submit(call)
  await run.cancel({ reason: 'no longer needed' })
  expect(reason).toMatchObject({ code: 'execution_not_active' })
  await expect(run.result()).rejects.toMatchObject({ code: 'execution_cancelled' })
})

test('t.run waits for steps that do real work', async () => {
  const real = task('real', async (ctx) => {
    const [one, two] = await Promise.all([
      ctx.step('one', () => sleep(60, 1)),
      ctx.step('two', () => sleep(30, 2), { timeout: '10s' }),
    ])
    await sleep(10)
    return one + two
  })
  await using t = await testEngine({ tasks: [real] })
  expect(await t.run(real)).toBe(3)
})

test('the history reports the difference, its place, and the steps it found', async () => {
  await using t = await testEngine({ tasks })
  const run = await t.submit(onboard, { email: 'ada' })
  await t.signal(run, 'approval', { approved: true })
  await t.advance('10m')
  const history = await run.history()
  history.assertSteps([
    { kind: 'step', name: 'create account', value: 'account of ada' },
    { kind: 'sleep', name: 'cool off' },
    { kind: 'wait', name: 'approval', value: { approved: true } },
    { kind: 'child', name: 'send-welcome', state: 'succeeded' },
  ])
  expect(() => history.assertSteps(['create account', 'approval'])).toThrow(
    [
      'the steps differ at 2: expected "approval", found sleep "cool off": succeeded',
      'expected:',
      '    1. "create account"',
      '  > 2. "approval"',
      'found:',
      '    1. step "create account": succeeded, value "account of ada"',
      '  > 2. sleep "cool off": succeeded',
      '    3. wait "approval": succeeded, value {"approved":true}',
      '    4. child "send-welcome": succeeded, value "sent to ada"',
    ].join('\n'),
  )
  expect(() => history.assertTimeline(['acquired'])).toThrow(
    'the timeline differs at 2: expected nothing more, found delayed',
  )
  expect(() => history.assertSteps([{ nam: 'x' } as object])).toThrow('did you mean name?')
  expect(String(history)).toContain('step "create account": succeeded')
})

test('two engines at a time share nothing, and a closed one leaves nothing behind', async () => {
  await using one = await testEngine({ tasks, now: 0 })
  await using other = await testEngine({ tasks, now: 0 })
  await one.submit(onboard, { email: 'ada' })
  await other.advance('1d')
  expect(one.now).toBe(0)
  expect((await other.ff.engine.executions.list()).executions).toEqual([])
  await one.close()
  await using next = await testEngine({ tasks })
  expect((await next.ff.engine.executions.list()).executions).toEqual([])
})

test('an unknown option, a bad time and a bad task are refused before anything is opened', async () => {
  await expect(testEngine({ tasks, nows: 1 } as never)).rejects.toThrow('did you mean now?')
  await expect(testEngine({ tasks, now: 'tomorrow' })).rejects.toThrow('now is "tomorrow"; it must be a Date')
  await expect(testEngine({ tasks: [] })).rejects.toThrow('tasks')
  await expect(testEngine({ tasks: [onboard, onboard] })).rejects.toThrow('there are two tasks "onboard"')
  await expect(testEngine([onboard] as never)).rejects.toThrow('the request to testEngine is an array')
  await expect(testEngine({ tasks, codec: {} as never })).rejects.toThrow('codec is without encode')
})

test('a task that the engine does not run, a value that is no task, and every call after close are refused', async () => {
  const t = await testEngine({ tasks })
  const stranger = task('stranger', () => {})
  await expect(t.run(stranger)).rejects.toThrow('does not run a task "stranger"; it runs "onboard", "send-welcome"')
  expect(() => t.mock('onboard' as never, 'send', 1)).toThrow('the task is "onboard"; it must be what task() returned')
  expect(() => t.mock(onboard, undefined as never, 1)).toThrow('the name of a step is undefined')
  await t.close()
  for (const late of [t.advance('1h'), t.settle(), t.run(sendWelcome, { to: 'ada' })]) {
    await expect(late).rejects.toMatchObject({ code: 'engine_closed' })
  }
})
