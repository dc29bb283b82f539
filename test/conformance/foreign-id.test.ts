// Every operation, called for another namespace than the execution's: foreign objects do not exist.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { fenceOf, lastFence, take, worker } from '../engine/execution/holder.ts'
import { factory } from '../support/factory.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { withoutWriting } from '../support/written.ts'
import { idPlaces } from '../../src/engine/id-places.ts'
import { bareEngine } from './bare-engine.ts'
import { flowChecks, graph } from './flow-checks.ts'
import { isNull, refusedAs, refusedInPlace, type Check, type Suspended } from './foreign.ts'
import { makeNamed, namedChecks } from './foreign-named.ts'
import { forget } from '../support/changes.ts'

/** An operation that is missing here fails the last test. */
const checks: Readonly<Record<string, Check>> = {
  'executions.create': refusedAs('execution_id_taken', (engine, { executionId }) =>
    engine.executions.create({ executionId, kind: 'anything' }),
  ),
  'executions.createMany': refusedInPlace('execution_id_taken', (engine, { executionId }) =>
    engine.executions.createMany([{ executionId, kind: 'anything' }]),
  ),
  'executions.claim': async (engine) => {
    const request = { ...worker, lanes: ['private'], max: 10 }
    expect((await engine.executions.claim(request)).claims).toEqual([])
    await refusal('namespace_mismatch', engine.executions.claim({ ...request, namespaces: ['theirs'] }))
  },
  'executions.grant': refusedAs('execution_not_found', (engine, { waitingId }) =>
    engine.executions.grant({ executionId: waitingId, workerId: 'w', workerInstanceId: 'w-1' }),
  ),
  'executions.claimById': refusedAs('execution_not_found', (engine, { waitingId, fence }) =>
    engine.executions.claimById({
      executionId: waitingId,
      grantId: fence.leaseId,
      workerId: 'w',
      workerInstanceId: 'w-1',
    }),
  ),
  'executions.renew': async (engine, { fence }) => {
    const answer = await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [fence] })
    expect(answer).toMatchObject({
      leases: [{ kind: 'lost', error: { code: 'execution_not_found' } }],
      unnamed: [],
    })
    const none = await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [] })
    expect(none.unnamed).toEqual([])
  },
  'executions.complete': refusedAs('execution_not_found', (engine, { fence }) => engine.executions.complete(fence)),
  'executions.completeMany': refusedInPlace('execution_not_found', (engine, { fence }) =>
    engine.executions.completeMany([fence]),
  ),
  'executions.fail': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.executions.fail({ ...fence, reason: 'r' }),
  ),
  'executions.failMany': refusedInPlace('execution_not_found', (engine, { fence }) =>
    engine.executions.failMany([{ ...fence, reason: 'r' }]),
  ),
  'executions.delay': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.executions.delay({ ...fence, for: '1m' }),
  ),
  'executions.delayMany': refusedInPlace('execution_not_found', (engine, { fence }) =>
    engine.executions.delayMany([{ ...fence, for: '1m' }]),
  ),
  'executions.release': refusedAs('execution_not_found', (engine, { fence }) => engine.executions.release(fence)),
  'executions.releaseMany': refusedInPlace('execution_not_found', (engine, { fence }) =>
    engine.executions.releaseMany([fence]),
  ),
  'executions.progress': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.executions.progress({ ...fence, percent: 1 }),
  ),
  'executions.restart': refusedAs('execution_not_found', (engine, { fence }) => engine.executions.restart(fence)),
  'executions.warn': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.executions.warn({ ...fence, reason: 'r' }),
  ),
  'steps.record': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.steps.record({ ...fence, name: 's', kind: 'step', state: 'succeeded' }),
  ),
  'steps.recordMany': refusedInPlace('execution_not_found', (engine, { fence }) =>
    engine.steps.recordMany([{ ...fence, name: 's', kind: 'step', state: 'succeeded' }]),
  ),
  'steps.list': async (engine, { executionId }) => {
    expect(await engine.steps.list(executionId)).toEqual({ steps: [], nextCursor: null })
  },
  'leases.check': async (engine, { fence }) => {
    const answer = await engine.leases.check({ leases: [fence] })
    expect(answer).toMatchObject([{ kind: 'lost', error: { code: 'execution_not_found' } }])
  },
  'executions.replay': refusedAs('execution_not_found', (engine, { endedId }) =>
    engine.executions.replay({ executionId: endedId }),
  ),
  'executions.replayMany': refusedInPlace('execution_not_found', (engine, { endedId }) =>
    engine.executions.replayMany([{ executionId: endedId }]),
  ),
  'executions.changePriority': refusedAs('execution_not_found', (engine, { waitingId }) =>
    engine.executions.changePriority({ executionId: waitingId, priority: 1 }),
  ),
  'executions.suspend': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.executions.suspend({ ...fence, condition: { kind: 'operator' } }),
  ),
  'executions.suspendMany': refusedInPlace('execution_not_found', (engine, { fence }) =>
    engine.executions.suspendMany([{ ...fence, condition: { kind: 'operator' } }]),
  ),
  'executions.trySuspend': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.executions.trySuspend({ ...fence, condition: { kind: 'time', at: 0 } }),
  ),
  'executions.resume': refusedAs('execution_not_found', (engine, { suspended: { executionId } }) =>
    engine.executions.resume({ executionId }),
  ),
  'executions.resumeMany': refusedInPlace('execution_not_found', (engine, { suspended: { executionId } }) =>
    engine.executions.resumeMany([{ executionId }]),
  ),
  'suspensions.list': async (engine) => {
    for (const request of [{}, { namespace: 'theirs' }]) {
      expect((await engine.suspensions.list(request)).suspensions).toEqual([])
    }
  },
  'suspensions.describe': isNull((engine, { suspended: { executionId } }) => engine.suspensions.describe(executionId)),
  'waitpoints.create': refusedAs('execution_not_found', (engine, { fence }) =>
    engine.waitpoints.create({ ...fence, key: 'k' }),
  ),
  'waitpoints.list': refusedAs('execution_not_found', (engine, { suspended: { executionId } }) =>
    engine.waitpoints.list(executionId),
  ),
  ...flowChecks,
  'leases.revoke': refusedAs('execution_not_found', (engine, { executionId }) => engine.leases.revoke({ executionId })),
  'leases.listExpired': async (engine) => {
    for (const request of [{}, { namespace: 'theirs' }]) {
      expect((await engine.leases.listExpired(request)).leases).toEqual([])
    }
  },
  'attempts.list': async (engine, { executionId, endedId }) => {
    for (const id of [executionId, endedId]) {
      expect(await engine.attempts.list(id)).toEqual({ attempts: [], nextCursor: null })
    }
  },
  'executions.cancel': refusedAs('execution_not_found', (engine, { executionId }) =>
    engine.executions.cancel({ executionId }),
  ),
  'executions.cancelMany': refusedInPlace('execution_not_found', (engine, { executionId }) =>
    engine.executions.cancelMany([{ executionId }]),
  ),
  'executions.describe': isNull((engine, { executionId }) => engine.executions.describe(executionId)),
  'executions.explain': isNull((engine, { executionId }) => engine.executions.explain(executionId)),
  'executions.result': isNull((engine, { executionId }) => engine.executions.result(executionId)),
  'executions.input': isNull((engine, { executionId }) => engine.executions.input(executionId)),
  'executions.resolveFlowId': isNull((engine, { executionId }) => engine.executions.resolveFlowId(executionId)),
  'executions.getNamespace': isNull((engine, { executionId }) => engine.executions.getNamespace(executionId)),
  'executions.getTag': isNull((engine, { executionId }) => engine.executions.getTag(executionId, 'customer')),
  'executions.setTag': refusedAs('execution_not_found', (engine, { executionId }) =>
    engine.executions.setTag(executionId, 'customer', 'changed'),
  ),
  'executions.list': async (engine, { parentId, partition }) => {
    const tag = { key: 'customer', value: 'c1' }
    const requests = [
      {},
      { namespace: 'theirs' },
      { lane: 'private' },
      { tag },
      { parentId },
      { partition },
      { state: 'active' },
    ] as const
    for (const request of requests) {
      expect((await engine.executions.list(request)).executions, JSON.stringify(request)).toEqual([])
    }
  },
  'executions.countByState': async (engine) => {
    for (const request of [{}, { namespace: 'theirs' }, { lane: 'private' }]) {
      const counts = await engine.executions.countByState(request)
      expect(Object.values(counts).every((state) => state.count === 0 && !state.orMore)).toBe(true)
    }
  },
  'signals.deliver': refusedAs('invalid_token', (engine, { suspended: { waitpointId, token } }) =>
    engine.signals.deliver({ waitpointId, token, name: 'n' }),
  ),
  'signals.deliverMany': refusedInPlace('invalid_token', (engine, { suspended: { waitpointId, token } }) =>
    engine.signals.deliverMany([{ waitpointId, token, name: 'n' }]),
  ),
  'signals.send': refusedAs('execution_not_found', (engine, { executionId }) =>
    engine.signals.send({ executionId, name: 'n' }),
  ),
  'signals.sendMany': refusedInPlace('execution_not_found', (engine, { suspended: { executionId } }) =>
    engine.signals.sendMany([{ executionId, name: 'n' }]),
  ),
  'signals.approve': refusedAs('waitpoint_not_found', (engine, { suspended: { waitpointId } }) =>
    engine.signals.approve({ waitpointId, name: 'n', idempotencySuffix: '1' }),
  ),
  'signals.redeem': refusedAs('invalid_token', (engine, { suspended: { link } }) => engine.signals.redeem({ link })),
  'signals.list': async (engine, { suspended: { executionId } }) => {
    expect(await engine.signals.list(executionId)).toEqual({ signals: [], nextCursor: null })
  },
  'signingKeys.rotate': async (engine) => {
    await refusal('namespace_mismatch', engine.signingKeys.rotate({ namespace: 'theirs' }))
  },
  'signingKeys.seed': async (engine) => {
    const secret = '00'.repeat(32)
    await refusal('namespace_mismatch', engine.signingKeys.seed({ namespace: 'theirs', kid: 'k', secret }))
  },
  'signingKeys.list': async (engine) => {
    expect((await engine.signingKeys.list()).map((key) => key.kid)).not.toContain('their-key')
    await refusal('namespace_mismatch', engine.signingKeys.list({ namespace: 'theirs' }))
  },
  'waitpoints.readToken': isNull((engine, { suspended: { waitpointId } }) => engine.waitpoints.readToken(waitpointId)),
  'waitpoints.link': refusedAs('waitpoint_not_found', (engine, { suspended: { waitpointId } }) =>
    engine.waitpoints.link({ waitpointId, base: 'https://example.com', action: 'yes', expiresIn: '1h' }),
  ),
  'waitpoints.describeLink': refusedAs('invalid_token', (engine, { suspended: { link } }) =>
    engine.waitpoints.describeLink({ link }),
  ),
  'events.timeline': async (engine, { executionId }) => {
    expect(await engine.events.timeline(executionId)).toEqual({ events: [], nextCursor: null })
  },
  'events.subscribe': async (engine) => {
    await refusal('namespace_mismatch', engine.events.subscribe({ namespace: 'theirs' }))
  },
  'lanes.list': async (engine) => {
    for (const request of [{}, { namespace: 'theirs' }]) {
      expect((await engine.lanes.list(request)).lanes.map((lane) => lane.lane)).not.toContain('private')
    }
  },
  'lanes.measure': async (engine) => {
    for (const request of [{}, { namespace: 'theirs' }]) {
      const { lanes, endings } = await engine.lanes.measure({ ...request, endedAfter: 0 })
      expect(lanes.map((lane) => lane.lane)).not.toContain('private')
      expect(endings).toEqual([])
    }
  },
  ...namedChecks,
}

/** The operations that belong to no noun. */
const withoutNoun = ['as', 'serverTime']

/** Suspended by the engine itself, in a lane of its own, and signed by a key of its namespace. */
async function suspendedIn(engine: Engine): Promise<Suspended> {
  await engine.signingKeys.rotate({ kid: 'their-key', secret: 'ab'.repeat(32) })
  const { executionId } = await engine.executions.create({ kind: 'anything', lane: 'waits' })
  const fence = fenceOf(await take(engine, { lanes: ['waits'] }))
  const answer = await engine.executions.suspend({ ...fence, condition: { kind: 'signal', waitpoint: 'door' } })
  if (answer.kind !== 'suspended') return expect.unreachable(answer.kind)
  const { waitpointId, token } = answer.waitpoints[0]!
  const base = 'https://example.com'
  const { url } = await engine.waitpoints.link({ waitpointId, base, action: 'yes', expiresIn: '1h' })
  return { fence, executionId, waitpointId, token: token!, link: new URL(url).searchParams.get('link')! }
}

// One database for all the verbs of a noun: none of them changes it.
const nouns = [...new Set(Object.keys(checks).map((operation) => operation.split('.')[0]!))]

test.each(nouns)('%s: no operation finds anything of another namespace, or changes anything', async (noun) => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const place = { namespace: 'theirs', lane: 'private', kind: 'anything' }
  const parentId = await given.suspended(place)
  const executionId = await given.active({ ...place, parentId, tags: { customer: 'c1' } })
  const [waitingId, endedId] = [await given.waiting(place), await given.completed(place)]
  await given.active({ ...place, expiresAt: 1 })
  const suspended = await suspendedIn(engine.as({ namespace: 'theirs' }))
  const flow = await engine.as({ namespace: 'theirs' }).flows.submitGraph(graph)
  await makeNamed(engine.as({ namespace: 'theirs' }))
  const ours = engine.as({ namespace: 'ours' })
  // The queue that a create would intern exists before, so that all tables can be compared.
  const { executionId: own } = await ours.executions.create({ kind: 'anything', lane: 'default' })
  await forget(sql, `namespace = 'ours'`)
  expect(await engine.executions.describe(own)).toBeNull()
  const partition = executionId.slice(0, executionId.indexOf('}') + 1)
  const fence = await lastFence(sql, executionId)
  const theirs = engine.as({ namespace: 'theirs' })
  await theirs.steps.record({ ...fence, name: 'theirs', kind: 'step', state: 'succeeded' })
  expect((await theirs.steps.list(executionId)).steps).toHaveLength(1)
  const foreign = { executionId, parentId, partition, fence, waitingId, endedId, suspended, flow }
  for (const [operation, check] of Object.entries(checks)) {
    if (!operation.startsWith(`${noun}.`)) continue
    await withoutWriting(sql, () => naming(operation, check(ours, foreign)), operation)
    // A new row needs a full id.
    if (madeWithId.includes(operation)) continue
    const bare = bareEngine(ours)
    await withoutWriting(sql, () => naming(`${operation} by uuid`, check(bare.engine, foreign)), operation)
    const [, verb] = operation.split('.') as [string, string]
    const places = idPlaces[noun as keyof typeof idPlaces] as Record<string, unknown> | undefined
    if (bare.called.size > 0) expect(Object.keys(places ?? {}), operation).toContain(verb)
  }
})

const madeWithId = ['executions.create', 'executions.createMany', 'flows.create', 'flows.submitGraph']

/** The failure names the operation. */
async function naming(operation: string, checked: Promise<void>): Promise<void> {
  try {
    await checked
  } catch (error) {
    throw new Error(operation, { cause: error })
  }
}

test('every operation of the engine is called above', async () => {
  const { engine } = await setup()
  const operations = Object.entries(engine).flatMap(([name, member]) =>
    typeof member === 'function' ? [name] : Object.keys(member as object).map((verb) => `${name}.${verb}`),
  )
  expect(operations.toSorted()).toEqual([...Object.keys(checks), ...withoutNoun].toSorted())
})
