// Bad input to create: each has its error, and nothing is written.
import { expect, test } from 'vitest'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

const uuid = '0190a3c4-0000-7000-8000-000000000001'
const many = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`)
const tags = (count: number) => Object.fromEntries(many(count).map((key) => [key, 'x']))
const loneSurrogate = 'a\uD800b'

const refused: readonly (readonly [what: string, fields: object, code: ErrorCode, message: RegExp])[] = [
  ['a malformed id', { executionId: 'not-an-id' }, 'invalid_id', /not-an-id.*\{fp:N\}/],
  ['an id without its tag', { executionId: uuid }, 'invalid_id', /execution id/],
  ['an id whose uuid is cut', { executionId: `{fp:7}:${uuid.slice(1)}` }, 'invalid_id', /execution id/],
  ['an id that is null', { executionId: null }, 'invalid_id', /null/],
  ['a partition out of range', { executionId: `{fp:256}:${uuid}` }, 'invalid_partition', /256.*0 to 255/],
  ['a partition far out of range', { executionId: `{fp:70000}:${uuid}` }, 'invalid_partition', /70000/],
  ['a lane of 65 bytes', { lane: 'x'.repeat(65) }, 'invalid_input', /lane.*65 bytes.*1 to 64/],
  ['a lane that is not printable', { lane: 'a\tb' }, 'invalid_input', /lane.*printable/],
  ['a lane outside of ASCII', { lane: 'über' }, 'invalid_input', /lane.*printable/],
  ['an empty lane', { lane: '' }, 'invalid_input', /lane is empty/],
  ['a kind that is missing', { kind: undefined }, 'invalid_input', /kind is undefined/],
  ['a kind with a line break', { kind: 'a\nb' }, 'invalid_input', /kind.*control/],
  ['257 capabilities', { requiredCapabilities: many(257) }, 'invalid_capabilities', /257.*256/],
  ['a payload over 1 MiB', { payload: new Uint8Array(1024 * 1024 + 1) }, 'payload_too_large', /1048577.*1048576/],
  ['a payload that is no bytes', { payload: 'text' }, 'invalid_input', /payload is "text".*must be bytes/],
  ['an encoding without a payload', { payloadEncoding: 'json' }, 'invalid_input', /payloadEncoding.*without/],
  ['a priority that is no whole number', { priority: 1.5 }, 'invalid_input', /priority is 1.5/],
  ['a priority that is a text', { priority: '7' }, 'invalid_input', /priority is "7"/],
  ['an unknown field', { lanes: 'a' }, 'invalid_input', /unknown field "lanes"; did you mean lane\?/],
  ['an unknown policy field', { policy: { retries: {} } }, 'invalid_policy', /retries.*did you mean retry\?/],
  [
    'an unknown field deep in a policy',
    { policy: { retry: { attempts: 1, backof: {} } } },
    'invalid_policy',
    /did you mean backoff\?/,
  ],
  ['65 tags', { tags: tags(65) }, 'invalid_tag', /65 tags.*64/],
  ['a tag value that is a number', { tags: { a: 1 } }, 'invalid_tag', /tag a is 1/],
  ['a tag key in capitals', { tags: { Customer: 'x' } }, 'invalid_tag', /Customer/],
  ['a tag value of 1,025 bytes', { tags: { a: 'x'.repeat(1025) } }, 'invalid_tag', /1024/],
  ['an idempotency key of 513 bytes', { idempotencyKey: 'x'.repeat(513) }, 'invalid_input', /idempotencyKey.*512/],
  ['an empty idempotency key', { idempotencyKey: '' }, 'invalid_input', /idempotencyKey is empty/],
  ['a time to live without a key', { idempotencyTtl: '1h' }, 'invalid_input', /idempotencyTtl.*without/],
  ['a negative delay', { delay: -1 }, 'invalid_input', /delay is -1/],
  ['a delay in two units', { delay: '1h30m' }, 'invalid_input', /delay is "1h30m"/],
  ['two delays', { delay: '1m', delayUntil: 1 }, 'invalid_input', /delay and delayUntil are both given/],
  ['a time that is not a number', { delayUntil: Number.NaN }, 'invalid_input', /delayUntil is NaN/],
  ['a deadline before 1970', { deadlineAt: -1 }, 'invalid_input', /deadlineAt is -1/],
  ['two deadlines', { deadline: '1m', deadlineAt: 1 }, 'invalid_input', /both given/],
  ['a namespace of 129 bytes', { namespace: 'x'.repeat(129) }, 'invalid_input', /namespace.*128/],
  ['the namespace that means all of them', { namespace: '*' }, 'invalid_input', /all namespaces/],
  ['a NUL in the kind', { kind: 'a\0b' }, 'invalid_input', /kind.*NUL/],
  ['a NUL in the lane', { lane: 'a\0b' }, 'invalid_input', /lane.*NUL/],
  ['a NUL in the namespace', { namespace: 'a\0b' }, 'invalid_input', /namespace.*NUL/],
  ['a NUL in a tag value', { tags: { a: 'a\0b' } }, 'invalid_tag', /tag a.*NUL/],
  ['a NUL in the idempotency key', { idempotencyKey: 'a\0b' }, 'invalid_input', /idempotencyKey.*NUL/],
  ['a NUL in the creator', { creator: 'a\0b' }, 'invalid_input', /creator.*NUL/],
  ['a NUL in the version', { version: 'a\0b' }, 'invalid_input', /version.*NUL/],
  ['a NUL in a capability', { requiredCapabilities: ['a\0b'] }, 'invalid_capabilities', /control/],
  ['a lone surrogate in the kind', { kind: loneSurrogate }, 'invalid_input', /kind.*lone surrogate/],
  ['a lone surrogate in a tag value', { tags: { a: loneSurrogate } }, 'invalid_tag', /lone surrogate/],
  ['a lone surrogate in the idempotency key', { idempotencyKey: loneSurrogate }, 'invalid_input', /lone surrogate/],
  [
    'a lone surrogate in a capability',
    { requiredCapabilities: [loneSurrogate] },
    'invalid_capabilities',
    /lone surrogate/,
  ],
  ['a lone surrogate in the namespace', { namespace: loneSurrogate }, 'invalid_input', /lone surrogate/],
]

test.each(refused)('%s is refused, and nothing is written', async (_, fields, code, message) => {
  const { engine, sql } = await setup()
  const request = { kind: 'k', ...fields } as CreateRequest
  const error = await withoutWriting(sql, () => refusal(code, engine.executions.create(request)))
  expect(error.message).toMatch(message)
  expect(error.retryable).toBe(false)
})

test.each([undefined, null, 'kind', 7])('a request that is %s is refused', async (request) => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, () => refusal('invalid_input', engine.executions.create(request as never)))
})

test('EXEC-10 capability words are checked at create, and 4,096 bytes of them are the most', async () => {
  const { engine, sql } = await setup()
  const bad = [
    ['a,b'],
    [''],
    [null],
    [7],
    [{}],
    ['a b'],
    ['a\tb'],
    ['a\nb'],
    ['a\0b'],
    ['a\x7fb'],
    'gpu',
    many(257),
    ['x'.repeat(4097)],
  ]
  await withoutWriting(sql, async () => {
    for (const requiredCapabilities of bad) {
      await refusal(
        'invalid_capabilities',
        engine.executions.create({ kind: 'k', requiredCapabilities } as CreateRequest),
      )
    }
  })
  const { executionId } = await engine.executions.create({ kind: 'k', requiredCapabilities: ['x'.repeat(4096)] })
  expect((await engine.executions.describe(executionId))?.requiredCapabilities).toEqual(['x'.repeat(4096)])
})

test('EXEC-09 a broken policy is never taken as none', async () => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, async () => {
    for (const policy of ['{"retry":', '{}', 7, [], true]) {
      await refusal('invalid_policy', engine.executions.create({ kind: 'k', policy } as unknown as CreateRequest))
    }
  })
})

test('EXEC-32 only a well-formed id is accepted, and its partition is the one it names', async () => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, async () => {
    for (const executionId of [
      uuid,
      `fp:7:${uuid}`,
      `{fp:7}${uuid}`,
      `{fp:7}:nonsense`,
      `{fp:07}:${uuid}`,
      `{fp:-1}:${uuid}`,
    ]) {
      await refusal('invalid_id', engine.executions.create({ kind: 'k', executionId }))
      if (executionId !== uuid) await refusal('invalid_id', engine.executions.describe(executionId))
    }
    // A bare uuid is enough to find a row, and not to create one.
    expect(await engine.executions.describe(uuid)).toBeNull()
    await refusal('invalid_partition', engine.executions.describe(`{fp:70000}:${uuid}`))
  })
  // Not the partition that this uuid would get when it is minted.
  await engine.executions.create({ kind: 'k', executionId: `{fp:7}:${uuid}` })
  expect((await engine.executions.list({ partition: 7 })).executions.map((found) => found.executionId)).toEqual([
    `{fp:7}:${uuid}`,
  ])
})

test('values at their limits are accepted', async () => {
  const { engine } = await setup()
  const answer = await engine.executions.create({
    kind: 'x'.repeat(256),
    lane: '~'.repeat(64),
    namespace: 'ü'.repeat(64),
    version: 'v'.repeat(64),
    payload: new Uint8Array(1024 * 1024),
    requiredCapabilities: many(256),
    tags: tags(64),
    idempotencyKey: 'x'.repeat(512),
    creator: 'x'.repeat(256),
    priority: 9000,
  })
  expect(answer.kind).toBe('created')
  const found = await engine.executions.describe(answer.executionId)
  expect(Object.keys(found!.tags)).toHaveLength(64)
  expect(found!.requiredCapabilities).toHaveLength(256)
})

test('text of every plane returns unchanged', async () => {
  const { engine } = await setup()
  const strange = `quote ' double " back \\ brace {} dollar $1 emoji 😀 line\u2028 null-ish \\0`
  const { executionId } = await engine.executions.create({
    kind: strange,
    tags: { a: strange },
    creator: strange,
    idempotencyKey: strange,
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    kind: strange,
    tags: { a: strange },
    creator: strange,
    idempotencyKey: strange,
  })
})

test.each([0, 249, 499])('one bad item among 500, at place %i, is refused at its position', async (place) => {
  const { engine } = await setup()
  const requests: CreateRequest[] = Array.from({ length: 500 }, (_, index) => ({ kind: 'k', priority: index }))
  requests[place] = { kind: 'k', lane: 'x'.repeat(65) }
  const answers = await engine.executions.createMany(requests)
  expect(answers).toHaveLength(500)
  expect(answers[place]).toMatchObject({
    kind: 'refused',
    error: { code: 'invalid_input', details: { field: 'lane' } },
  })
  expect(answers.filter((answer) => answer.kind === 'created')).toHaveLength(499)
  const counts = await engine.executions.countByState()
  expect(counts.waiting.count).toBe(499)
  const last = answers[place === 499 ? 498 : 499]!
  const found = last.kind === 'created' ? await engine.executions.describe(last.executionId) : null
  expect(found?.priority).toBe(place === 499 ? 498 : 499)
})
