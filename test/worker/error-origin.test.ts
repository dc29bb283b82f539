// Where an error came from, as a handle, the code around a step and a parent can read it.
import { expect, test } from 'vitest'
import type { EngineError } from '../../src/model/errors.ts'
import { encodeError } from '../../src/model/recorded-error.ts'
import { ChildError, StepError } from '../../src/worker/errors.ts'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const once = { attempts: 1 } as const

class BankError extends Error {
  override readonly name = 'BankError'
  readonly code = 'no_funds'
  readonly details = { amount: 5 }
}

function charge(): never {
  throw new BankError('bank says no', { cause: new RangeError('the account is empty') })
}

const pays = task('pays', { retry: once }, (ctx) => ctx.step('pay', charge))
const hidden: Codec = { encode: (value) => jsonCodec.encode(value), decode: (encoded) => jsonCodec.decode(encoded) }

async function thrownBy(promise: Promise<unknown>): Promise<EngineError> {
  return promise.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error as EngineError,
  )
}

/** The revived error of `charge`. */
function expectBankError(error: unknown): void {
  expect(error).toBeInstanceOf(Error)
  expect(error).not.toBeInstanceOf(BankError)
  expect(error).toMatchObject({
    name: 'BankError',
    message: 'bank says no',
    code: 'no_funds',
    details: { amount: 5 },
    cause: { name: 'RangeError', message: 'the account is empty' },
  })
  const [head, ...frames] = (error as Error).stack!.split('\n')
  expect(head).toBe('BankError: bank says no')
  expect(frames[0]).toMatch(/at charge .*error-origin\.test\.ts/)
  expect(frames.join('\n')).not.toMatch(/\/src\/worker\/|node:internal/)
}

test.each([
  ['the plain codec', jsonCodec],
  ['a codec that hides reasons', hidden],
])('a result names the step that failed and carries its error as the cause, with %s', async (_, codec) => {
  const { submit, runAll, engine } = await working([pays], {}, codec)
  const run = await submit(pays)
  await runAll()
  const error = await thrownBy(run.result())
  expect(error.code).toBe('execution_failed')
  expect(error.message).toBe(`execution ${run.id} failed: step "pay" failed: bank says no: the account is empty`)
  expect(error.details).toMatchObject({ executionId: run.id, step: 'pay', error: { name: 'StepError' } })
  expect(JSON.stringify(error)).not.toContain('error-origin.test.ts')
  expectBankError(error.cause)
  const [attempt] = (await engine.attempts.list(run.id)).attempts
  expect(codec.decode({ bytes: attempt!.error!, encoding: attempt!.errorEncoding! })).toMatchObject({
    name: 'StepError',
    details: { step: 'pay' },
    cause: { name: 'BankError' },
  })
})

test('an error of the code outside of a step is the cause itself', async () => {
  const fails = task('fails', { retry: once }, () => charge())
  const { submit, runAll } = await working([fails])
  const run = await submit(fails)
  await runAll()
  const error = await thrownBy(run.result())
  expect(error.message).toBe(`execution ${run.id} failed: bank says no: the account is empty`)
  expect(error.details).not.toHaveProperty('step')
  expectBankError(error.cause)
})

test('an error that wraps the error of a step leads to it through its causes', async () => {
  const wraps = task('wraps', { retry: once }, (ctx) =>
    ctx.step('pay', charge).catch((cause: unknown) => {
      throw new Error('the order is lost', { cause })
    }),
  )
  const { submit, runAll } = await working([wraps])
  const run = await submit(wraps)
  await runAll()
  const { message, cause } = await thrownBy(run.result())
  expect(message).toContain('failed: the order is lost: step "pay" failed: bank says no')
  expect(cause).toMatchObject({
    name: 'Error',
    message: 'the order is lost',
    cause: { name: 'StepError', step: 'pay' },
  })
  expectBankError(((cause as Error).cause as Error).cause)
})

test('a thrown value that is no error is the cause itself, unchanged', async () => {
  const throws = task('throws', { retry: once }, (ctx) =>
    ctx.step('odd', () => {
      // oxlint-disable-next-line typescript/only-throw-error
      throw 'just a text'
    }),
  )
  const { submit, runAll } = await working([throws])
  const run = await submit(throws)
  await runAll()
  const error = await thrownBy(run.result())
  expect(error.message).toBe(`execution ${run.id} failed: step "odd" failed: just a text`)
  expect(error.cause).toBe('just a text')
})

test('a StepError has the error of the step as its cause, in the run that made it and in later runs', async () => {
  const seen: StepError[] = []
  const catches = task('catches', { retry: once }, async (ctx) => {
    await ctx.step('pay', charge).catch((error: unknown) => seen.push(error as StepError))
    await ctx.sleep('rest', '1h')
  })
  const { submit, runAll, after } = await working([catches])
  await submit(catches)
  await runAll()
  await after('1h')
  expect(seen).toHaveLength(2)
  for (const error of seen) {
    expect(error).toBeInstanceOf(StepError)
    expect(error).toMatchObject({ step: 'pay', message: 'step "pay" failed: bank says no' })
    expect(error.error.name).toBe('BankError')
    expect(error.stack).toMatch(/^StepError: step "pay" failed: bank says no\n {4}at charge/)
    expectBankError(error.cause)
  }
})

test("a ChildError has the child's error as its cause, in the run that received it and in later runs", async () => {
  const seen: ChildError[] = []
  const parent = task('parent', { retry: once }, async (ctx) => {
    await ctx.run(pays).catch((error: unknown) => seen.push(error as ChildError))
    await ctx.sleep('rest', '1h')
    throw seen.at(-1)!
  })
  const { submit, worker, runAll, after, engine } = await working([parent, pays])
  const run = await submit(parent)
  await worker.tick()
  await worker.tick()
  await expect.poll(async () => (await engine.executions.describe(run.id))!.publicState).not.toBe('suspended')
  await runAll()
  await after('1h')
  expect(seen).toHaveLength(2)
  for (const error of seen) {
    expect(error).toBeInstanceOf(ChildError)
    expect(error.message).toMatch(/^child .* failed: step "pay" failed: bank says no: the account is empty$/)
    expectBankError(error.cause)
  }
  const { message, cause } = await thrownBy(run.result())
  expect(message).toMatch(/failed: child .* failed: step "pay" failed: bank says no: the account is empty$/)
  expect(cause).toMatchObject({ name: 'ChildError', ended: 'failed' })
  expectBankError((cause as Error).cause)
})

test('an error that was recorded with another codec does not hide how the execution ended', async () => {
  const { engine, handle } = await working([pays])
  const { executionId } = await engine.executions.create({ kind: 'pays' })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w', lanes: ['default'] })
  const { leaseId, leaseEpoch } = claims[0]!
  const { bytes } = encodeError(new Error('secret'))
  const error = { error: bytes.map((byte) => byte ^ 255), errorEncoding: 'sealed' }
  await engine.executions.fail({ executionId, leaseId, leaseEpoch, reason: 'no', permanent: true, ...error })
  const thrown = await thrownBy(handle(executionId).result())
  expect(thrown).toMatchObject({ code: 'execution_failed', message: `execution ${executionId} failed: no` })
  expect(thrown.cause).toBeUndefined()
})
