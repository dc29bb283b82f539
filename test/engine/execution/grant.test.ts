import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { ClaimByIdRequest } from '../../../src/engine/execution/claim-by-id.ts'
import type { GrantRequest } from '../../../src/engine/execution/grant.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import type { Clock } from '../../support/clock.ts'
import { factory, type Factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { leaseEvents } from './holder.ts'
import * as stored from '../../support/stored.ts'

const holder = { workerId: 'w', workerInstanceId: 'w-1' }
const anyone = { workerId: 'v', workerInstanceId: 'v-1', lanes: ['default'] }

test('CLAIM-12, CLAIM-15 a grant moves nothing, keeps others off, and is used up by the claim of its holder', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const executionId = await factory(sql).waiting()
  const granted = await engine.executions.grant({ executionId, ...holder })
  expect(granted).toMatchObject({ kind: 'granted', executionId, expiresAt: (await clock.now()) + 5000 })
  const { grantId } = granted
  expect(await stored.grants.pick(sql, ['grant_id', 'worker_id', 'worker_instance_id'])).toEqual([
    { grant_id: grantId, worker_id: 'w', worker_instance_id: 'w-1' },
  ])
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting' })
  expect((await engine.executions.claim(anyone)).claims).toEqual([])
  await refusal('grant_exists', engine.executions.grant({ executionId, workerId: 'v', workerInstanceId: 'v-1' }))
  for (const wrong of [{ workerId: 'v' }, { workerInstanceId: 'w-2' }, { grantId: 'another' }]) {
    const request = { executionId, grantId, ...holder, ...wrong }
    await withoutWriting(sql, () => refusal('grant_not_found', engine.executions.claimById(request)))
  }
  const claim = await engine.executions.claimById({ executionId, grantId, ...holder })
  expect(claim).toMatchObject({ executionId, reason: 'first', attemptIndex: 0, leaseEpoch: 1 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'active',
    lease: { leaseId: claim.leaseId, workerId: 'w', workerInstanceId: 'w-1' },
  })
  expect(await stored.grants.pick(sql, ['grant_id', 'worker_id', 'worker_instance_id'])).toEqual([])
  expect(await leaseEvents(sql)).toEqual(['acquired'])
  await refusal('execution_not_runnable', engine.executions.claimById({ executionId, grantId, ...holder }))
})

test('an expired grant is refused, and keeps no worker off', async () => {
  const { engine, sql, clock } = await setup()
  const executionId = await factory(sql).waiting()
  const { grantId } = await engine.executions.grant({ executionId, ...holder, ttl: '2s' })
  await clock.advance('3s')
  await refusal('grant_expired', engine.executions.claimById({ executionId, grantId, ...holder }))
  await engine.executions.grant({ executionId, ...holder })
  await clock.advance('10s')
  expect((await engine.executions.claim(anyone)).claims).toMatchObject([{ executionId }])
})

type Unusable = [code: ErrorCode, make: (given: Factory, engine: Engine, clock: Clock) => Promise<ClaimByIdRequest>]

const unusable: Readonly<Record<string, Unusable>> = {
  'no grant': [
    'grant_not_found',
    async (given) => ({ executionId: await given.waiting(), grantId: randomUUID(), ...holder }),
  ],
  'a grant of another worker': [
    'grant_not_found',
    async (given, engine) => {
      const executionId = await given.waiting()
      const { grantId } = await engine.executions.grant({ executionId, workerId: 'v', workerInstanceId: 'v-1' })
      return { executionId, grantId, ...holder }
    },
  ],
  'a grant that ran out': [
    'grant_expired',
    async (given, engine, clock) => {
      const executionId = await given.waiting()
      const { grantId } = await engine.executions.grant({ executionId, ...holder })
      await clock.advance('5s')
      return { executionId, grantId, ...holder }
    },
  ],
  'an execution that has ended meanwhile': [
    'execution_not_runnable',
    async (given, engine) => {
      const executionId = await given.waiting()
      const { grantId } = await engine.executions.grant({ executionId, ...holder })
      await engine.executions.cancel({ executionId })
      return { executionId, grantId, ...holder }
    },
  ],
  'an execution that another holds': [
    'execution_not_runnable',
    async (given) => ({ executionId: await given.active(), grantId: randomUUID(), ...holder }),
  ],
  'an execution that is not eligible yet': [
    'execution_not_runnable',
    async (given) => ({ executionId: await given.delayed(), grantId: randomUUID(), ...holder }),
  ],
}

test.each(Object.entries(unusable))(
  'CLAIM-16 a claim by id of %s is refused with its reason, and nothing is written',
  async (_, [code, make]) => {
    const { engine, sql, clock } = await setup()
    const request = await make(factory(sql), engine, clock)
    await withoutWriting(sql, () => refusal(code, engine.executions.claimById(request)))
  },
)

test('only a claimable execution is granted', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const executionId of [await given.delayed(), await given.active(), await given.completed()]) {
    await withoutWriting(sql, () =>
      refusal('execution_not_runnable', engine.executions.grant({ executionId, ...holder })),
    )
  }
  await refusal('invalid_input', engine.executions.grant({ executionId: await given.waiting(), ...holder, ttl: '2m' }))
})

// Each needs all of kind, version and capabilities; an omitted field means what it means for a claim.
const needed = {
  kind: 'render',
  version: '2',
  requiredCapabilities: ['gpu', 'large'],
} as const
const able = { kinds: ['encode', 'render'], versions: ['1', '2'], capabilities: ['large', 'gpu', 'eu'] }
const unable: Readonly<Record<string, [served: Partial<typeof able>, details: object]>> = {
  'lacks a capability': [{ ...able, capabilities: ['large'] }, { missing: ['gpu'] }],
  'names no capabilities': [{ kinds: able.kinds, versions: able.versions }, { missing: ['gpu', 'large'] }],
  'serves other kinds': [{ ...able, kinds: ['encode'] }, { kind: 'render' }],
  'serves other versions': [{ ...able, versions: ['1'] }, { version: '2' }],
  'names no versions': [{ kinds: able.kinds, capabilities: able.capabilities }, { version: '2' }],
}

test.each(Object.entries(unable))(
  'LEASE-24 a worker that %s gets no grant and cannot claim by one; others still can',
  async (_, [served, details]) => {
    const { engine, sql } = await setup()
    const { executionId } = await engine.executions.create(needed)
    await withoutWriting(sql, async () => {
      const error = await refusal('capability_mismatch', engine.executions.grant({ executionId, ...holder, ...served }))
      expect(error.details).toMatchObject({ executionId, ...details })
    })
    expect((await engine.executions.claim({ ...anyone, ...served })).claims).toEqual([])
    const { grantId } = await engine.executions.grant({ executionId, ...holder, ...able })
    await withoutWriting(sql, async () => {
      const request = { executionId, grantId, ...holder, ...served }
      const error = await refusal('capability_mismatch', engine.executions.claimById(request))
      expect(error.details).toMatchObject({ executionId, ...details })
    })
    expect(await engine.executions.claimById({ executionId, grantId, ...holder, ...able })).toMatchObject({
      executionId,
    })
  },
)

test('an execution without requirements is granted to a worker that names nothing, and a worker without kinds may get any kind', async () => {
  const { engine } = await setup()
  for (const served of [{}, { versions: ['9'], capabilities: ['gpu'] }, { kinds: ['k'] }]) {
    const { executionId } = await engine.executions.create({ kind: 'k' })
    const { grantId } = await engine.executions.grant({ executionId, ...holder, ...served })
    expect(await engine.executions.claimById({ executionId, grantId, ...holder, ...served })).toMatchObject({
      executionId,
    })
  }
})

test('one grant of a set is refused for a mismatch and its neighbours are not', async () => {
  const { engine } = await setup()
  const ids = await Promise.all(
    [{ kind: 'k' }, needed, { kind: 'k' }].map(
      async (request) => (await engine.executions.create(request)).executionId,
    ),
  )
  const answers = await Promise.allSettled(
    ids.map((executionId) => engine.executions.grant({ executionId, ...holder })),
  )
  expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test.each([
  ['kinds', 'k', 'invalid_input'],
  ['kinds', [], 'invalid_input'],
  ['kinds', [''], 'invalid_input'],
  ['versions', 7, 'invalid_input'],
  ['versions', [''], 'invalid_input'],
  ['capabilities', 'gpu', 'invalid_capabilities'],
  ['capabilities', ['a b'], 'invalid_capabilities'],
] as const)('a grant, and a claim by one, refuse %s = %j', async (field, value, code) => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  const grant = { executionId, ...holder, [field]: value } as GrantRequest
  for (const asking of [
    engine.executions.grant(grant),
    engine.executions.claimById({ ...grant, grantId: randomUUID() }),
  ]) {
    expect((await refusal(code, asking)).details).toMatchObject({
      field: expect.stringMatching(`^${field.slice(0, -1)}`),
    })
  }
})

test('ATT-19 progress keeps omitted fields, outlives the attempt, and ATT-20 is fenced', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const [claim] = (await engine.executions.claim(anyone)).claims
  const fence = { executionId, leaseId: claim!.leaseId, leaseEpoch: claim!.leaseEpoch }
  const seen = async () => (await engine.executions.describe(executionId))!.progress
  expect(await seen()).toBeNull()
  await engine.executions.progress({ ...fence, percent: 42, message: 'halfway' })
  expect(await seen()).toMatchObject({ percent: 42, message: 'halfway' })
  await engine.executions.progress({ ...fence, percent: 75 })
  expect(await seen()).toMatchObject({ percent: 75, message: 'halfway' })
  await engine.executions.progress({ ...fence, message: 'winding down' })
  await engine.executions.progress(fence)
  expect(await seen()).toMatchObject({ percent: 75, message: 'winding down' })
  await refusal('invalid_input', engine.executions.progress({ ...fence, percent: 101 }))
  await engine.executions.release(fence)
  await refusal('stale_lease', engine.executions.progress({ ...fence, percent: 80 }))
  expect(await seen()).toMatchObject({ percent: 75 })
})
