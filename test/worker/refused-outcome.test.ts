// Endings that cannot be recorded as they are: the execution still ends, and does not run again until its last expiry.
import { expect, onTestFinished, test } from 'vitest'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { EngineError, type ErrorCode } from '../../src/model/errors.ts'
import { limits } from '../../src/model/limits.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { working } from './working.ts'

const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const

test.each<[string, Codec]>([
  ['gives a promise', { encode: async () => jsonCodec.encode(null), decode: () => null } as never],
  ['gives a promise that rejects', { encode: () => Promise.reject(new Error('no key')), decode: () => null } as never],
  [
    'throws',
    {
      encode() {
        throw new Error('no key')
      },
      decode: () => null,
    },
  ],
  [
    'makes too much of it',
    { encode: () => ({ bytes: new Uint8Array(2 ** 20 + 1), encoding: 'x' }), decode: () => null },
  ],
])('a codec that %s fails the execution for good, and neither the worker nor the process', async (_, codec) => {
  const said: string[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void said.push(message) }
  const giver = task('giver', { retry: atOnce(3) }, () => 'something')
  const { submit, runAll, engine, worker } = await working([giver], { logger }, codec)
  const run = await submit(giver)
  await runAll()
  const { attempts } = await engine.attempts.list(run.id)
  expect(attempts).toMatchObject([{ failureCategory: 'permanent', error: null }])
  expect(attempts[0]!.failureReason).toContain('its error is not stored, because the codec could not encode it')
  expect(said).toHaveLength(2)
  expect(said[0]).toContain(`the error of ${run.id} is not recorded`)
  expect(said[1]).toContain('attempt 1 of 3 failed: the result of giver')
  await worker.stop({ grace: 0 })
})

test('a thrown value that cannot be encoded is in the reason, where reasons may be read', async () => {
  const codec: Codec = { ...jsonCodec, encode: () => Promise.resolve(jsonCodec.encode(null)) as never }
  const thrower = task('thrower', { retry: atOnce(1) }, () => {
    throw new Error('the mail was not sent')
  })
  const { submit, runAll, engine } = await working([thrower], {}, codec)
  const run = await submit(thrower)
  await runAll()
  expect(await engine.executions.result(run.id)).toMatchObject({ kind: 'failed', reason: 'the mail was not sent' })
})

test('a reason that is too long is cut, whatever its source, and one of another type becomes a text', async () => {
  const long = `refused: ${'😀'.repeat(2000)}`
  const canceller = task('canceller', (ctx) => ctx.cancel(long))
  const thrower = task('thrower', { retry: atOnce(1) }, (_, shift: number) => {
    throw new Error('x'.repeat(shift) + long)
  })
  const later = task('later', { retry: atOnce(2) }, (ctx, said: string) => {
    if (ctx.attemptIndex === 0) ctx.retryIn(0, (said === '' ? said : new Error(said)) as string)
    return 'done'
  })
  const { submit, runAll, engine } = await working([canceller, thrower, later])
  const cancelled = await submit(canceller)
  const thrown = [await submit(thrower, 0), await submit(thrower, 1)]
  const retried = [await submit(later, '429'), await submit(later, '')]
  await runAll()
  const results = await Promise.all([cancelled, ...thrown].map((run) => engine.executions.result(run.id)))
  for (const [index, kind] of ['cancelled', 'failed', 'failed'].entries()) {
    const { reason, ...rest } = results[index] as { kind: string; reason: string }
    expect(rest.kind).toBe(kind)
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(limits.reasonBytes)
    expect(reason).toMatch(/refused: 😀+…$/u)
  }
  const reasons = retried.map(async (run) => {
    expect(await run.result()).toBe('done')
    return (await engine.attempts.list(run.id)).attempts[0]!.failureReason
  })
  expect(await Promise.all(reasons)).toEqual(['429', 'no reason was given'])
})

test('a restart with too large an input throws where it is called, and fails for good', async () => {
  const caught: unknown[] = []
  const grower = task('grower', { retry: atOnce(3) }, (ctx) => {
    try {
      ctx.restart('x'.repeat(limits.payloadBytes))
    } catch (error) {
      caught.push(error)
      throw error
    }
  })
  const { submit, runAll, engine } = await working([grower])
  const run = await submit(grower)
  await runAll()
  expect(caught).toMatchObject([{ code: 'payload_too_large', details: { bytes: limits.payloadBytes + 2 } }])
  expect((await engine.attempts.list(run.id)).attempts).toMatchObject([{ failureCategory: 'permanent' }])
  await expect(run.result()).rejects.toThrow('the input of a restart is 1048578 bytes; at most 1048576 are stored')
})

test('an ending that the engine refuses becomes a permanent failure that says so; an error that others can fix is left as it is', async () => {
  const plain = task('plain', { retry: atOnce(3) }, () => 'done')
  const { submit, engine } = await working([plain])
  const refusing = (code: ErrorCode): Worker => {
    const executions = { ...engine.executions, complete: () => Promise.reject(new EngineError(code, 'not like this')) }
    const worker = new Worker({ tasks: [plain], handleSignals: false }, { engine: { ...engine, executions } })
    onTestFinished(() => worker.stop({ grace: 0 }))
    return worker
  }
  const refused = await submit(plain)
  await refusing('invalid_input').tick()
  await expect(refused.result()).rejects.toThrow('how the run ended was refused: not like this')
  expect((await engine.attempts.list(refused.id)).attempts).toMatchObject([{ failureCategory: 'permanent' }])
  const kept = await submit(plain)
  await refusing('forbidden').tick()
  expect(await kept.state()).toBe('active')
})
