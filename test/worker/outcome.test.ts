import { expect, test } from 'vitest'
import { decodeError } from '../../src/model/recorded-error.ts'
import { PermanentError, RunLeft } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const

test('SDK-08 the return value or the error of a handler decides the ending', async () => {
  const nothing = task('nothing', () => {})
  const bytes = task('bytes', () => new Uint8Array([1, 2, 3]))
  const thrower = task('thrower', { retry: { attempts: 1 } }, () => {
    throw new Error('the mail was not sent', { cause: new Error('connection refused') })
  })
  const odd = task('odd', { retry: { attempts: 1 } }, () => {
    // oxlint-disable-next-line no-throw-literal
    throw 'a string'
  })
  const { submit, runAll, engine } = await working([nothing, bytes, thrower, odd])
  const runs = [await submit(nothing), await submit(bytes), await submit(thrower), await submit(odd)]
  await runAll()
  expect(await runs[0]!.result()).toBeUndefined()
  expect(await engine.executions.result(runs[0]!.id)).toEqual({ kind: 'completed', result: null, encoding: null })
  expect(await runs[1]!.result()).toEqual(new Uint8Array([1, 2, 3]))
  await expect(runs[2]!.result()).rejects.toMatchObject({
    code: 'execution_failed',
    details: {
      reason: 'the mail was not sent: connection refused',
      error: { name: 'Error', message: 'the mail was not sent', cause: { message: 'connection refused' } },
    },
  })
  const [attempt] = (await engine.attempts.list(runs[3]!.id)).attempts
  expect(attempt).toMatchObject({ failureReason: 'a string', failureCategory: 'transient' })
  expect(decodeError({ bytes: attempt!.error!, encoding: attempt!.errorEncoding! })).toMatchObject({
    message: 'a string',
  })
})

test('SDK-07 a run that was never suspended receives no signals of other executions', async () => {
  const fresh = task('fresh', async (ctx) => ctx.waitFor('go', { timeout: '1m', onTimeout: () => 'none' }))
  const { submit, runAll, after } = await working([fresh])
  const other = await submit(fresh)
  const run = await submit(fresh)
  await other.signal('go', 'theirs')
  await runAll()
  expect(await run.state()).toBe('suspended')
  await after('1m')
  expect([await other.result(), await run.result()]).toEqual(['theirs', 'none'])
})

test('a task is tried five times by default, with growing delays', async () => {
  let count = 0
  const broken = task('broken', () => {
    count += 1
    throw new Error('no')
  })
  const { submit, worker, after } = await working([broken])
  const run = await submit(broken)
  await worker.tick()
  expect(await run.state()).toBe('delayed')
  for (let minute = 0; minute < 20; minute += 1) await after('1m')
  expect(count).toBe(5)
  expect(await run.state()).toBe('failed')
})

test('a permanent error is never tried again', async () => {
  let count = 0
  const doomed = task('doomed', { retry: atOnce(5) }, () => {
    count += 1
    throw new PermanentError('the account is closed')
  })
  const { submit, runAll } = await working([doomed])
  const run = await submit(doomed)
  await runAll()
  await expect(run.result()).rejects.toThrow('the account is closed')
  expect(count).toBe(1)
})

test('ctx.retryIn begins the next attempt after the delay, and the failed step is tried again', async () => {
  const busy = task('busy', { retry: { attempts: 2 } }, async (ctx) => {
    const answer = await ctx
      .step('call', () => {
        if (ctx.attemptIndex === 0) throw new Error('429')
        return 'done'
      })
      .catch(() => ctx.retryIn('7m', 'the server is busy'))
    return answer
  })
  const { submit, worker, after, engine } = await working([busy])
  const run = await submit(busy)
  await worker.tick()
  await after('6m')
  expect(await run.state()).toBe('delayed')
  await after('1m')
  expect(await run.result()).toBe('done')
  const { attempts } = await engine.attempts.list(run.id)
  expect(attempts).toMatchObject([{ failureReason: 'the server is busy', outcome: 'retry' }, { outcome: 'success' }])
})

test('ctx.cancel ends the execution, also when the code swallows its error', async () => {
  const effects: string[] = []
  const refused = task('refused', async (ctx) => {
    try {
      ctx.cancel('nobody wants it')
    } catch {
      effects.push('swallowed')
    }
    return 'done'
  })
  const { submit, runAll } = await working([refused])
  const run = await submit(refused)
  await runAll()
  await expect(run.result()).rejects.toMatchObject({
    code: 'execution_cancelled',
    details: { reason: 'nobody wants it' },
  })
  expect(effects).toEqual(['swallowed'])
})

test('retryIn, cancel and restart also take effect when other code runs beside them and waits', async () => {
  const settled = task('settled', async (ctx, word: string) => {
    const decide = async (): Promise<void> => {
      await ctx.step('decide', () => 1)
      if (ctx.generation > 0) return
      if (word === 'cancel') ctx.cancel('nobody wants it')
      if (word === 'restart') ctx.restart('again')
      ctx.retryIn('1h', 'not yet')
    }
    await Promise.allSettled([decide(), ctx.waitFor('answer'), ctx.sleep('at most', '1d')])
  })
  const { submit, runAll, engine } = await working([settled])
  const runs = [await submit(settled, 'cancel'), await submit(settled, 'restart'), await submit(settled, 'retry')]
  await runAll()
  const states = await Promise.all(runs.map((run) => run.state()))
  expect(states).toEqual(['cancelled', 'suspended', 'delayed'])
  expect(await engine.executions.describe(runs[1]!.id)).toMatchObject({ generation: 1 })
  expect((await engine.attempts.list(runs[2]!.id)).attempts[0]).toMatchObject({ failureReason: 'not yet' })
})

test('a result that cannot be encoded, or is too large, fails for good and says so', async () => {
  const big = task('big', { retry: atOnce(3) }, () => ({ count: 10n }))
  const huge = task('huge', { retry: atOnce(3) }, () => 'x'.repeat(1024 * 1024))
  const { submit, runAll, engine } = await working([big, huge])
  const runs = [await submit(big), await submit(huge)]
  await runAll()
  const reasons = await Promise.all(
    runs.map(async (run) => (await engine.attempts.list(run.id)).attempts.map((attempt) => attempt.failureReason)),
  )
  expect(reasons[0]).toHaveLength(1)
  expect(reasons[0]![0]).toContain('the result of big cannot be encoded')
  expect(reasons[1]).toHaveLength(1)
  expect(reasons[1]![0]).toContain('the result of huge is 1048578 bytes; at most 1048576 are stored')
})

test('SDK-09 a payload that cannot be decoded fails for good; a worker leaves work that it cannot run to others', async () => {
  const known = task('known', { retry: atOnce(3), version: '2' }, (_, input: unknown) => input)
  const { submit, runAll, engine, another } = await working([known])
  const damaged = await engine.executions.create({
    kind: 'known',
    payload: new TextEncoder().encode('{'),
    policy: { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } },
  })
  const unknown = await engine.executions.create({ kind: 'unknown' })
  const older = await submit(known, null, { version: '1' })
  const newer = await submit(known, 'ours')
  const any = await submit(known, 'any', { version: null })
  await runAll()
  const { attempts } = await engine.attempts.list(damaged.executionId)
  expect(attempts).toHaveLength(1)
  expect(attempts[0]!.failureReason).toContain('the payload cannot be decoded')
  expect(await engine.executions.describe(unknown.executionId)).toMatchObject({ publicState: 'waiting' })
  expect([await older.state(), await newer.result(), await any.result()]).toEqual(['waiting', 'ours', 'any'])
  const old = task('known', { version: '1' }, () => 'old')
  await another({ tasks: [old, known] }).tick()
  expect(await older.result()).toBe('old')
})

test('tasks of different versions run side by side: each execution runs with the version that it requires', async () => {
  const ran: string[] = []
  const versions = ['1', '2'].map((version) => task('both', { version }, () => void ran.push(version)))
  const other = task('other', () => void ran.push('other'))
  const { submit, runAll, engine } = await working([...versions, other])
  await submit(versions[0]!)
  await submit(versions[1]!)
  await submit(other)
  // No worker serves it: one serves the kind, and another the version.
  const stranger = await engine.executions.create({ kind: 'other', version: '2' })
  await runAll()
  expect(ran.toSorted()).toEqual(['1', '2', 'other'])
  expect(await engine.executions.describe(stranger.executionId)).toMatchObject({ publicState: 'waiting' })
})

test('middleware wraps every run, the first one outermost, and can see how a run ended', async () => {
  const received: string[] = []
  const nap = task('nap', async (ctx, hours: number) => {
    received.push('handler')
    if (hours > 0) await ctx.sleep('nap', '1h')
    return hours
  })
  const layer = (name: string) => async (_: unknown, next: () => Promise<unknown>) => {
    received.push(`${name} in`)
    try {
      return await next()
    } catch (error) {
      received.push(error instanceof RunLeft ? `${name}: ${error.how}` : String(error))
      throw error
    } finally {
      received.push(`${name} out`)
    }
  }
  const { submit, worker, after } = await working([nap], { middleware: [layer('a'), layer('b')] })
  const short = await submit(nap, 0)
  await worker.tick()
  expect(received.splice(0)).toEqual(['a in', 'b in', 'handler', 'b out', 'a out'])
  expect(await short.result()).toBe(0)
  const long = await submit(nap, 1)
  await worker.tick()
  expect(received.splice(0)).toEqual(['a in', 'b in', 'handler', 'b: delayed', 'b out', 'a: delayed', 'a out'])
  await after('1h')
  expect(await long.result()).toBe(1)
})

test('middleware may change the result, and an error that it throws is a failure of the run', async () => {
  const plain = task('plain', { retry: { attempts: 1 } }, (_, fail: boolean) => (fail ? 'bad' : 'good'))
  const { submit, runAll } = await working([plain], {
    middleware: [
      async (_, next) => {
        const value = await next()
        if (value === 'bad') throw new Error('refused by middleware')
        return `${String(value)}!`
      },
    ],
  })
  const runs = [await submit(plain, false), await submit(plain, true)]
  await runAll()
  expect(await runs[0]!.result()).toBe('good!')
  await expect(runs[1]!.result()).rejects.toThrow('refused by middleware')
})

test('middleware may use the context before and after the handler, and wait there too', async () => {
  const plain = task('plain', (ctx) => ctx.step('within', () => 'done'))
  const { submit, worker, after, engine } = await working([plain], {
    middleware: [
      async (ctx, next) => {
        await ctx.step('before', () => 1)
        await ctx.sleep('early', '1h')
        const value = await next()
        await ctx.progress(100)
        await ctx.sleep('late', '1h')
        return ctx.step('after', () => `${String(value)}!`)
      },
    ],
  })
  const run = await submit(plain)
  await worker.tick()
  expect([await run.state(), worker.running]).toEqual(['delayed', 0])
  await after('1h')
  expect([await run.state(), worker.running]).toEqual(['delayed', 0])
  await after('1h')
  expect(await run.result()).toBe('done!')
  const names = (await engine.steps.list(run.id)).steps.map((step) => step.name)
  expect(names).toEqual(['before', 'early', 'within', 'late', 'after'])
})

test('code that a handler still awaits when it is over does not delay the ending, whether it threw at once or returned', async () => {
  const open = task('open', { retry: { attempts: 1 } }, (ctx, fail: boolean) => {
    ctx.waitFor('nobody asks').then(
      () => {},
      () => {},
    )
    if (fail) throw new Error('at once')
    return 'gone on'
  })
  const { submit, runAll, engine } = await working([open], {
    middleware: [
      async (_, next) => {
        try {
          return await next()
        } finally {
          // Long enough for an idle run to suspend.
          for (let turn = 0; turn < 10; turn++) await engine.serverTime()
        }
      },
    ],
  })
  const runs = [await submit(open, true), await submit(open, false)]
  await runAll()
  await expect(runs[0]!.result()).rejects.toThrow('at once')
  expect(await runs[1]!.result()).toBe('gone on')
})

test('people can read the progress', async () => {
  const long = task('long', async (ctx) => {
    await ctx.progress(40, 'nearly half')
    await ctx.sleep('rest', '1h')
  })
  const { submit, worker, engine } = await working([long])
  const run = await submit(long)
  await worker.tick()
  expect((await engine.executions.describe(run.id))!.progress).toMatchObject({ percent: 40, message: 'nearly half' })
})
