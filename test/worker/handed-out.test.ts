// Waitpoints whose tokens were sent to people stay open until they are answered, whatever else wakes the code meanwhile.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { WaitpointId } from '../../src/model/id.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { WaitTimeoutError } from '../../src/worker/errors.ts'
import type { Context, ContextWaitpoint } from '../../src/worker.ts'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

interface Mail {
  readonly waitpointId: WaitpointId
  readonly token: string
}

/** The mailed tokens, by the waitpoint's name. */
function postOffice() {
  const mails = new Map<string, Mail>()
  const mail = async (ctx: Context, name: string): Promise<ContextWaitpoint> => {
    const waitpoint = await ctx.waitpoint(name)
    await ctx.step(`mail ${name}`, async () => {
      mails.set(name, { waitpointId: waitpoint.waitpointId, token: await waitpoint.token() })
    })
    return waitpoint
  }
  const answer = (engine: Engine, name: string, value: unknown) => engine.signals.deliver(answerOf(name, value))
  const answerOf = (name: string, value: unknown) => {
    return { ...mails.get(name)!, name: 'answer', payload: jsonCodec.encode(value).bytes, payloadEncoding: 'json' }
  }
  return { mail, answer, answerOf }
}

const { mail, answer, answerOf } = postOffice()

const both = task('both', async (ctx) => {
  const legal = await mail(ctx, 'legal')
  const finance = await mail(ctx, 'finance')
  return Promise.all([ctx.waitFor(legal), ctx.waitFor(finance)])
})

test('the mailed token of each of two approvals that are awaited side by side answers its own', async () => {
  const { submit, runAll, engine } = await working([both])
  const run = await submit(both)
  await runAll()
  await answer(engine, 'finance', 'paid')
  await runAll()
  expect(await run.state()).toBe('suspended')
  await answer(engine, 'legal', 'lawful')
  await runAll()
  expect(await run.result()).toEqual(['lawful', 'paid'])
})

test('two answers in one call are both accepted', async () => {
  const { submit, runAll, engine } = await working([both])
  const run = await submit(both)
  await runAll()
  const answers = await engine.signals.deliverMany([answerOf('legal', 1), answerOf('finance', 2)])
  expect(answers).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }])
  await runAll()
  expect(await run.result()).toEqual([1, 2])
})

test('an answer that does not satisfy the wait alone is kept while another event wakes the code', async () => {
  const patient = task('patient', async (ctx) => {
    const approvals = [await mail(ctx, 'legal'), await mail(ctx, 'finance')]
    const ticking = (async () => {
      for (let minute = 1; minute <= 3; minute += 1) await ctx.sleep(`minute ${minute}`, '1m')
    })()
    const answers = await ctx.all(approvals.map((each) => ctx.waitFor(each)))
    await ticking
    return answers
  })
  const { submit, runAll, after, engine } = await working([patient])
  const run = await submit(patient)
  await runAll()
  expect(await answer(engine, 'legal', 'lawful')).toMatchObject({ effect: 'appended_to_waitpoint' })
  await after('61s')
  await after('61s')
  expect(await answer(engine, 'finance', 'paid')).toMatchObject({ kind: 'accepted' })
  await runAll()
  await after('61s')
  expect(await run.result()).toEqual(['lawful', 'paid'])
})

test('a reminder by a race or by a timeout keeps the mailed token valid', async () => {
  const remind = task('remind', async (ctx) => {
    const manager = await mail(ctx, 'manager')
    const first = await ctx.race([ctx.waitFor(manager), ctx.sleep('a day', '1d')])
    if (first !== undefined) return first
    try {
      return await ctx.waitFor(manager, { timeout: '1d' })
    } catch (error) {
      if (!(error instanceof WaitTimeoutError)) throw error
    }
    const director = await mail(ctx, 'director')
    return ctx.race([ctx.waitFor(manager), ctx.waitFor(director)])
  })
  const { submit, runAll, after, engine } = await working([remind])
  for (const who of ['manager', 'director']) {
    const run = await submit(remind)
    await runAll()
    await after('25h')
    await after('25h')
    expect(await run.state()).toBe('suspended')
    await answer(engine, who, `yes, says the ${who}`)
    await runAll()
    expect(await run.result()).toBe(`yes, says the ${who}`)
  }
})

test('an answered waitpoint is replaced by a fresh one, and its neighbour is kept', async () => {
  const twice = task('twice', async (ctx) => {
    const manager = await mail(ctx, 'manager')
    const first = await ctx.waitFor(manager)
    const director = await mail(ctx, 'director')
    return [first, await ctx.race([ctx.waitFor(manager), ctx.waitFor(director)])]
  })
  const { submit, runAll, engine } = await working([twice])
  const run = await submit(twice)
  await runAll()
  await answer(engine, 'manager', 'perhaps')
  await runAll()
  await expect(answer(engine, 'manager', 'again')).rejects.toMatchObject({ code: 'waitpoint_closed' })
  await answer(engine, 'director', 'yes')
  await runAll()
  expect(await run.result()).toEqual(['perhaps', 'yes'])
})

test('a wait without a named waitpoint keeps the one it got for as long as it lasts', async () => {
  const wait = task('wait', async (ctx) => {
    const pause = ctx.sleep('pause', '1m').then(() => ctx.sleep('another', '1m'))
    const answered = ctx.waitFor('answer', { timeout: '90s', onTimeout: () => 'nobody' })
    return Promise.all([answered, pause, ctx.waitFor('more')])
  })
  const { submit, runAll, after, engine } = await working([wait])
  const run = await submit(wait)
  await runAll()
  const openKeys = async (): Promise<Map<string, WaitpointId>> => {
    const { waitpoints } = await engine.waitpoints.list(run.id)
    return new Map(waitpoints.map(({ key, waitpointId }) => [key, waitpointId]))
  }
  const before = await openKeys()
  await after('61s')
  expect(await openKeys()).toEqual(before)
  await after('61s')
  expect([...(await openKeys()).keys()]).toEqual(['more'])
  await run.signal('more', 'done')
  await runAll()
  expect(await run.result()).toEqual(['nobody', null, 'done'])
})

test('reading a token or a link outside of a step is refused at once, not only after the answer', async () => {
  const asked = { action: 'approve', expiresIn: '1d' } as const
  const careless = task('careless', async (ctx, what: 'token' | 'link') => {
    const waitpoint = await ctx.waitpoint('manager')
    const handed = what === 'token' ? await waitpoint.token() : await waitpoint.url('https://example.com/', asked)
    await ctx.step('mail', () => handed.length)
    return ctx.waitFor(waitpoint)
  })
  const { submit, runAll } = await working([careless])
  const runs = [await submit(careless, 'token'), await submit(careless, 'link')]
  await runAll()
  for (const [index, what] of ['token', 'link'].entries()) {
    await expect(runs[index]!.result()).rejects.toThrow(
      `the ${what} of waitpoint "manager" is read outside of a step, so every later run would read it again; read it in the step that sends it`,
    )
  }
})

test('a loop that races the same waitpoint by Promise.race, day by day, receives the answer on the day it arrives', async () => {
  const remind = task('remind', { retry: { attempts: 1 } }, async (ctx) => {
    const manager = await mail(ctx, 'manager')
    for (let day = 1; ; day += 1) {
      const first = await Promise.race([ctx.waitFor(manager), ctx.sleep(`day ${day}`, '1d')])
      if (first !== undefined) return [day, first]
    }
  })
  const { submit, runAll, after, engine } = await working([remind])
  const run = await submit(remind)
  await runAll()
  await after('25h')
  await after('25h')
  expect(await run.state()).toBe('suspended')
  await answer(engine, 'manager', 'yes')
  await runAll()
  expect(await run.result()).toEqual([3, 'yes'])
})
