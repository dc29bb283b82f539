import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { handleOf } from '../../src/connect/handle.ts'
import { submitMany } from '../../src/connect/submit.ts'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { EngineError } from '../../src/model/errors.ts'
import type { ChildError } from '../../src/worker/errors.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { refusal } from '../support/refusal.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import { count, fields, length, text } from './schemas.ts'
import { working } from './working.ts'
import { storedBytes } from '../support/reads.ts'

test('SDK-16 a submit needs only the task and its input: lane, priority and id have defaults', async () => {
  const plain = task('plain', (_, input: number) => input + 1)
  const { submit, engine, runAll } = await working([plain])
  const run = await submit(plain, 41)
  expect(run.id).toMatch(/^\{fp:\d+\}:[\da-f-]{36}$/)
  expect(await engine.executions.describe(run.id)).toMatchObject({
    kind: 'plain',
    lane: 'default',
    priority: 0,
    publicState: 'waiting',
  })
  await runAll()
  expect(await run.result()).toBe(42)
})

test("every submit uses the task's options, and a submit may override them", async () => {
  const mail = task(
    'mail',
    { lane: 'mail', version: '7', retry: { attempts: 2 }, attemptTimeout: '1m', deadline: '1d' },
    () => 'sent',
  )
  const { submit, engine } = await working([mail])
  const run = await submit(mail)
  const other = await submit(mail, undefined, { lane: 'slow', version: null, deadline: '1h', tags: { a: 'b' } })
  const [one, two] = [await engine.executions.describe(run.id), await engine.executions.describe(other.id)]
  expect(one).toMatchObject({
    lane: 'mail',
    version: '7',
    policy: { retry: { attempts: 2 }, attemptTimeoutMs: 60_000 },
  })
  expect(two).toMatchObject({ lane: 'slow', version: null, tags: { a: 'b' } })
  expect(one!.deadlineAt! - one!.createdAt).toBe(86_400_000)
  expect(two!.deadlineAt! - two!.createdAt).toBe(3_600_000)
  const error = await refusal('invalid_input', submit(mail, undefined, { prority: 5 } as object))
  expect(error.message).toBe('submit has an unknown field "prority"; did you mean priority?')
})

test("an input that the task's schema rejects is never accepted, and the handler receives the schema's output", async () => {
  const measure = task('measure', { input: length, output: count }, (_, size) => size * 2)
  const { submit, runAll } = await working([measure])
  const error = await refusal('invalid_input', submit(measure as unknown as Task<number>, 5))
  expect(error.message).toBe('the input of measure is refused by its schema: expected a text')
  const run = await submit(measure, 'four')
  await runAll()
  expect(await run.result()).toBe(8)
})

test('an input rejected at the claim, and a rejected output, fail for good', async () => {
  const strict = task('strict', { input: text, output: count, retry: { attempts: 3 } }, (_, said) => said as never)
  const { submit, runAll, engine } = await working([strict])
  const damaged = await engine.executions.create({ kind: 'strict', payload: new TextEncoder().encode('5') })
  const wrong = await submit(strict, 'no number')
  await runAll()
  const reasonOf = async (id: typeof wrong.id): Promise<unknown> =>
    (await engine.attempts.list(id)).attempts.map((attempt) => attempt.failureReason)
  expect(await reasonOf(damaged.executionId)).toEqual(['the input of strict is refused by its schema: expected a text'])
  expect(await reasonOf(wrong.id)).toEqual(['the result of strict is refused by its schema: expected a count'])
})

test('a step and a signal are checked against their schemas, fresh and recorded', async () => {
  let isNewer = false
  const checked = task('checked', { signals: { answer: fields<{ ok: boolean }>(['ok']) } }, async (ctx) => {
    const size = await ctx.step('size', () => 'four', { schema: isNewer ? (count as never) : text })
    const answer = await ctx.waitFor('answer')
    return `${size} ${answer.ok}`
  })
  const { submit, worker, runAll, engine } = await working([checked])
  const [run, other] = [await submit(checked), await submit(checked)]
  await worker.tick()
  const error = await refusal('invalid_input', run.signal('answer', {} as never))
  expect(error.message).toBe('the signal "answer" is refused by its schema: ok: missing')
  await run.signal('answer', { ok: true })
  await runAll()
  expect(await run.result()).toBe('four true')
  isNewer = true
  await other.signal('answer', { ok: true })
  await runAll()
  expect((await engine.attempts.list(other.id)).attempts.at(-1)).toMatchObject({
    failureReason: 'the recorded value of step "size" is refused by its schema: expected a count',
    failureCategory: 'permanent',
  })
})

test('many inputs are submitted in one call; a bad one is refused at its position', async () => {
  const measure = task('measure', { input: text }, (_, said) => said.length)
  const { engine, runAll } = await working([measure])
  const answers = await submitMany(engine, jsonCodec, measure as Task, [
    { input: 'one' },
    { input: 2 },
    { input: 'three', options: { priority: 5, idempotencyKey: 'k' } },
    { input: 'four', options: { priority: 5, idempotencyKey: 'k' } },
    { input: 'five', options: { tags: { ['x'.repeat(200)]: 'long' } } },
  ])
  await runAll()
  const outcomes = await Promise.all(
    answers.map(async (answer) => (EngineError.is(answer) ? answer.code : answer.result())),
  )
  expect(outcomes).toEqual([3, 'invalid_input', 5, 'idempotency_conflict', 'invalid_tag'])
})

test('a list longer than the limit of a call is submitted in several calls, each answer at its position', async () => {
  const measure = task('measure', { input: text }, (_, said) => said.length)
  const { engine } = await working([measure])
  const lengths: number[] = []
  const counted = { ...engine, executions: { ...engine.executions, createMany } }
  const items = Array.from({ length: 1200 }, (_, index) => ({ input: index === 700 ? 7 : `${index}` }))
  const answers = await submitMany(counted, jsonCodec, measure as Task, items)
  expect(lengths).toEqual([500, 500, 199])
  expect(answers.flatMap((answer, index) => (EngineError.is(answer) ? [index] : []))).toEqual([700])
  expect((await engine.executions.countByState()).waiting.count).toBe(1199)

  function createMany(requests: Parameters<typeof engine.executions.createMany>[0]) {
    lengths.push(requests.length)
    return engine.executions.createMany(requests)
  }
})

test('values that are no task and no list of inputs are refused by name before anything is sent', async () => {
  const child = task('child', () => {})
  const parent = task('parent', { retry: { attempts: 1 } }, (ctx) => ctx.run('child' as never))
  const { submit, engine, runAll } = await working([child, parent])
  const error = await refusal('invalid_input', submit('child' as never))
  expect(error.message).toBe('the task is "child"; it must be what task() returned')
  const run = await submit(parent)
  await runAll()
  await expect(run.result()).rejects.toThrow('the task of a child is "child"; it must be what task() returned')
  const many = (items: unknown) => submitMany(engine, jsonCodec, child as Task, items as never)
  expect((await refusal('invalid_input', many({ input: 1 }))).message).toContain('what to submit is an object')
  const messages = (await many([{ email: 'a' }, 5, null])).map((answer) => (answer as EngineError).message)
  expect(messages).toEqual([
    'submitMany has an unknown field "email"; allowed fields are input, options',
    'the request to submitMany is 5; it must be an object',
    'the request to submitMany is null; it must be an object',
  ])
})

test('a codec that returns a promise fails with an error that requires bytes', async () => {
  const plain = task('plain', (_, input: number) => input)
  const slow = { encode: async () => ({ bytes: new Uint8Array(1), encoding: 'x' }), decode: () => null }
  const { submit } = await working([plain], {}, slow as never)
  const error = await refusal('invalid_input', submit(plain, 1))
  expect(error.message).toBe(
    'the input of plain cannot be encoded: the codec returned a promise; encode must return { bytes, encoding } synchronously',
  )
})

test('a handle waits for the result until its timeout, and other handles receive the result at once', async () => {
  const gates: (() => void)[] = []
  const gate = task('gate', () => new Promise<string>((resolve) => gates.push(() => resolve('done'))))
  const { submit, worker } = await working([gate])
  const run = await submit(gate)
  const error = await refusal('wait_timed_out', run.result({ timeout: 20 }))
  expect(error.message).toMatch(/did not finish within 20 ms\. (It|Its) .*\.$/)
  expect(error.details).toMatchObject({ executionId: run.id, publicState: 'waiting', timeoutMs: 20 })
  const leaving = new AbortController()
  const left = run.result({ signal: leaving.signal })
  leaving.abort(new Error('no longer interested'))
  await expect(left).rejects.toThrow('no longer interested')
  const waiting = Promise.all([run.result(), run.result()])
  const ticking = worker.tick()
  await expect.poll(() => gates.length).toBe(1)
  gates[0]!()
  expect(await waiting).toEqual(['done', 'done'])
  await ticking
})

test('a handle of an unknown execution returns not found', async () => {
  const { handle, engine } = await working([task('plain', () => {})])
  const { executionId } = await engine.executions.create({ kind: 'plain' })
  const missing = handle(executionId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) as typeof executionId)
  await refusal('execution_not_found', missing.result())
  await refusal('execution_not_found', missing.state())
  await refusal('execution_not_found', missing.cancel())
})

test('the codec encodes all user data, and the database sees none of it in plain text', async () => {
  const key = randomBytes(32)
  const sealing: Codec = {
    encode(value) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const sealed = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()])
      return { bytes: Buffer.concat([iv, cipher.getAuthTag(), sealed]), encoding: 'sealed' }
    },
    decode({ bytes, encoding }) {
      expect(encoding).toBe('sealed')
      const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
      opener.setAuthTag(bytes.subarray(12, 28))
      return JSON.parse(Buffer.concat([opener.update(bytes.subarray(28)), opener.final()]).toString())
    },
  }
  const secretive = task(
    'secretive',
    { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } },
    async (ctx, said: string) => {
      const step = await ctx.step('step', () => `${said} step`)
      const signal = await ctx.waitFor('signal')
      if (ctx.attemptIndex === 0) throw new Error(`${said} error`)
      return [step, signal].join(' ')
    },
  )
  const { submit, runAll, worker, sql } = await working([secretive], {}, sealing)
  const run = await submit(secretive, 'whisper')
  await worker.tick()
  await run.signal('signal', 'whisper too')
  await runAll()
  expect(await run.result()).toBe('whisper step whisper too')
  const stored = await storedBytes(sql)
  expect(stored).toHaveLength(6)
  for (const bytes of stored) expect(Buffer.from(bytes).toString('latin1')).not.toContain('whisper')
})

test('a thrown message reaches handles and parents through the codec, and no stored reason and no event contains it', async () => {
  const hiding: Codec = {
    encode: (value) => ({ bytes: Buffer.from(JSON.stringify(value)).map((byte) => byte ^ 0x55), encoding: 'hidden' }),
    decode: ({ bytes }) => JSON.parse(Buffer.from(bytes.map((byte) => byte ^ 0x55)).toString()) as unknown,
  }
  const once = { attempts: 1 }
  const child = task('child', { retry: once }, (ctx) =>
    ctx.step('tell', () => Promise.reject(new Error('whisper', { cause: new Error('whisper again') }))),
  )
  const parent = task('parent', { retry: once }, async (ctx) => {
    const told = await ctx.run(child).catch((error: unknown) => (error as ChildError).reason)
    throw new Error(`the child said: ${told}`)
  })
  const { submit, runAll, dispatched, sql } = await working([child, parent], {}, hiding)
  const run = await submit(parent)
  await runAll()
  await dispatched()
  await runAll()
  await expect(run.result()).rejects.toThrow(
    `execution ${run.id} failed: the child said: step "tell" failed: whisper: whisper again`,
  )
  const tables = await rows(
    sql,
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'flowfabric'::regnamespace and relkind in ('r', 'p')`,
  )
  for (const { name } of tables) {
    const found = await rows(sql, `select t::text as line from ${String(name)} as t`)
    expect(JSON.stringify(found)).not.toContain('whisper')
    expect(JSON.stringify(found)).not.toContain(Buffer.from('whisper').toString('hex'))
  }
})

test('SDK-11 errors say whether a retry is useful', () => {
  const isRetryable = (['contended', 'database_unreachable', 'server_unreachable', 'invalid_input'] as const).map(
    (code) => new EngineError(code, 'x').retryable,
  )
  expect(isRetryable).toEqual([true, true, true, false])
})

test('a wait for a result that times out says why the execution has not ended', async () => {
  const gate = task('gate', () => 'done')
  const { submit, engine } = await working([gate])
  const run = await submit(gate)
  const { sentence } = (await engine.executions.explain(run.id))!
  const error = await refusal('wait_timed_out', run.result({ timeout: '1s' }))
  expect(error.details['explanation']).toBe(sentence)
  expect(error.message).toContain(`${run.id} did not finish within 1 s. `)
  expect(error.message).toContain("no registered worker serves lane 'default'")
})

test('the timeout error names the kind when registered workers serve only other kinds', async () => {
  const [gate, other] = [task('gate', () => 'done'), task('other', () => 'done')]
  const { submit, another, engine } = await working([gate])
  const worker = another({ tasks: [other] })
  await worker.start()
  await expect.poll(async () => (await engine.workers.list()).workers.length).toBe(1)
  const run = await submit(gate)
  const error = await refusal('wait_timed_out', run.result({ timeout: '1s' }))
  expect(error.message).toMatch(
    /did not finish within 1 s\. It has been waiting for .*serves? lane 'default', but none serves kind 'gate'/,
  )
})

test('the timeout error gives the state when the reason cannot be read', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const explain = () => Promise.reject(new Error('not with this key'))
  const handle = handleOf({ ...engine, executions: { ...engine.executions, explain } }, jsonCodec, executionId, {})
  const error = await refusal('wait_timed_out', handle.result({ timeout: 5 }))
  expect(error.message).toBe(`execution ${executionId} did not finish within 5 ms. It is waiting.`)
})
