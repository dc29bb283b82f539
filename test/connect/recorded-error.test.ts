import { runInNewContext } from 'node:vm'
import { expect, inject, onTestFinished, test } from 'vitest'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { connect } from '../../src/connect/connect.ts'
import { decodeError, encodeError, type RecordedError } from '../../src/model/recorded-error.ts'
import { EngineError } from '../../src/model/errors.ts'
import { limits } from '../../src/model/limits.ts'
import { createDatabase } from '../support/database.ts'
import { refusal } from '../support/refusal.ts'

function recorded(thrown: unknown, codec?: Codec): RecordedError {
  const encoded = encodeError(thrown, codec)
  expect(encoded.bytes.byteLength).toBeLessThanOrEqual(limits.errorBytes)
  return decodeError(encoded, codec)
}

/** A value that throws at every access. */
function unreadable(target: object): object {
  const fail = (): never => {
    throw new Error('no')
  }
  return new Proxy(target, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail })
}

test('an error is recorded with its name, message, stack, fields and causes', () => {
  const refused = Object.assign(new RangeError('no such host'), { code: 'ENOTFOUND', port: 25 })
  const error = new TypeError('the mail was not sent', { cause: refused })
  const found = recorded(error)
  expect(found).toEqual({
    name: 'TypeError',
    message: 'the mail was not sent',
    stack: error.stack,
    cause: {
      name: 'RangeError',
      message: 'no such host',
      stack: refused.stack,
      details: { code: 'ENOTFOUND', port: 25 },
    },
  })
})

test('an error of the engine keeps its code and details', () => {
  const found = recorded(new EngineError('execution_not_found', 'gone', { executionId: 'x' }))
  expect(found).toMatchObject({
    name: 'EngineError',
    details: { code: 'execution_not_found', details: { executionId: 'x' } },
  })
})

test('an aggregate keeps its parts', () => {
  const found = recorded(new AggregateError([new Error('one'), 'two'], 'both failed'))
  expect(found).toMatchObject({
    name: 'AggregateError',
    message: 'both failed',
    errors: [
      { name: 'Error', message: 'one' },
      { name: 'NonError', message: 'two' },
    ],
  })
})

test('an error of another realm is an error, and so is an object in the shape of one', () => {
  expect(recorded(runInNewContext('new TypeError("elsewhere")'))).toMatchObject({
    name: 'TypeError',
    message: 'elsewhere',
  })
  expect(recorded({ message: 'looks like one', code: 7 })).toEqual({
    name: 'Error',
    message: 'looks like one',
    details: { code: 7 },
  })
})

test.each<[unknown, Partial<RecordedError>]>([
  ['a text', { message: 'a text' }],
  [undefined, { message: 'undefined' }],
  [null, { message: 'null' }],
  [7n, { message: '7n' }],
  [Symbol('s'), { message: 'Symbol(s)' }],
  [{ status: 500 }, { message: 'an object', details: { status: 500 } }],
  [[1, 2], { message: 'an array', details: [1, 2] }],
  [() => 1, { message: 'a function' }],
])('a value that is no error is recorded as such: %o', (thrown, expected) => {
  expect(recorded(thrown)).toEqual({ name: 'NonError', ...expected })
})

test('a cycle of causes is cut, and the record says so', () => {
  const outer = new Error('outer')
  const inner = new Error('inner', { cause: outer })
  outer.cause = inner
  const found = recorded(outer)
  expect(found).toMatchObject({ message: 'outer', cause: { message: 'inner', isCut: true } })
  expect(found.cause).not.toHaveProperty('cause')
  expect(found).not.toHaveProperty('isCut')
})

test('causes and parts are recorded up to a limit', () => {
  let deep: unknown = 'the root'
  for (let level = 0; level < 100; level += 1) deep = new Error(`level ${level}`, { cause: deep })
  let depth = 0
  let last = recorded(deep)
  for (; last.cause !== undefined; last = last.cause) depth += 1
  expect(depth).toBe(8)
  expect(last.isCut).toBe(true)
  const tree = (levels: number): unknown =>
    levels === 0 ? 'leaf' : new AggregateError(Array.from({ length: 10 }, () => tree(levels - 1)))
  expect(countOf(recorded(tree(4)))).toBe(32)
})

function countOf({ cause, errors = [] }: RecordedError): number {
  return 1 + [...errors, ...(cause === undefined ? [] : [cause])].reduce((sum, inner) => sum + countOf(inner), 0)
}

test('a huge message is cut, says so, and leaves room for the frames and the cause', () => {
  const error = new Error('€'.repeat(1_000_000), { cause: new Error('the root') })
  const found = recorded(error)
  expect(found.isCut).toBe(true)
  expect(found.message).toMatch(/^€+…$/)
  expect(found.stack?.includes('recorded-error.test.ts')).toBe(true)
  expect(found.cause).toMatchObject({ message: 'the root' })
  expect(found.cause).not.toHaveProperty('isCut')
})

test('huge fields and very many of them are cut', () => {
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field-${index}`, index]))
  const many = recorded(Object.assign(new Error('many'), fields))
  expect(many).toMatchObject({ message: 'many', isCut: true })
  const body = recorded(Object.assign(new Error('large'), { code: 'E', body: new Uint8Array(1_000_000) }))
  expect(body).toMatchObject({ message: 'large', isCut: true, details: { code: 'E', body: 'an object' } })
})

test('fields without a JSON form are named, and functions omitted', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const found = recorded(Object.assign(new Error('odd'), { cycle, big: 1n, retry: () => 1, none: undefined }))
  expect(found.details).toEqual({ cycle: 'an object', big: '1n' })
  expect(found.isCut).toBe(true)
})

test('a value that throws when it is read is still recorded', () => {
  const error = new Error('shown')
  for (const field of ['stack', 'cause', 'code', 'errors']) {
    Object.defineProperty(error, field, {
      enumerable: true,
      get() {
        throw new Error('no')
      },
    })
  }
  expect(recorded(error)).toEqual({ name: 'Error', message: 'shown' })
  expect(recorded(unreadable(new Error('hidden')))).toMatchObject({ name: 'NonError' })
  expect(recorded(unreadable([]))).toMatchObject({ name: 'NonError', message: 'an array' })
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect(recorded(proxy)).toMatchObject({ name: 'NonError', message: 'unreadable', isCut: true })
})

test('with a codec that enlarges the record, it is cut more', () => {
  const double: Codec = {
    encode: (value) => ({ bytes: Buffer.from(JSON.stringify(value), 'utf16le'), encoding: 'wide' }),
    decode: ({ bytes }) => JSON.parse(Buffer.from(bytes).toString('utf16le')) as unknown,
  }
  expect(recorded(new Error('x'.repeat(40_000)), double)).toMatchObject({ isCut: true })
})

test('bytes of another format are shown as they are', async () => {
  expect(decodeError(jsonCodec.encode(['not ours']))).toEqual({
    name: 'NonError',
    message: 'an array',
    details: ['not ours'],
  })
  const unknown = { bytes: new Uint8Array([1]), encoding: 'sealed' }
  await refusal(
    'invalid_input',
    Promise.resolve().then(() => decodeError(unknown)),
  )
})

test('the list of attempts returns the error that fail received', async () => {
  const database = await createDatabase(inject('postgres').url)
  onTestFinished(() => database.drop())
  const ff = await connect(database.url)
  onTestFinished(() => ff.close())
  const { executions, attempts } = ff.engine
  await executions.create({ kind: 'k', lane: 'a' })
  const { claims } = await executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['a'] })
  const { executionId, leaseId, leaseEpoch } = claims[0]!
  const { bytes, encoding } = encodeError(new Error('no', { cause: 'because' }))
  const fence = { executionId, leaseId, leaseEpoch }
  await executions.fail({ ...fence, reason: 'no', error: bytes, errorEncoding: encoding })
  const [attempt] = (await attempts.list(executionId)).attempts
  const found = decodeError({ bytes: attempt!.error!, encoding: attempt!.errorEncoding! })
  expect(found).toMatchObject({ message: 'no', cause: { name: 'NonError', message: 'because' } })
})
