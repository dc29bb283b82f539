// Objects with names from the caller: workers, schedules and API keys of another namespace, which other namespaces do
// not find by name.
import { expect } from 'vitest'
import type { ApiKeyCreated } from '../../src/engine/api-key/create.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { worker } from '../engine/execution/holder.ts'
import { refusal } from '../support/refusal.ts'

const theirs = { namespace: 'theirs' }
const theirSchedule = { scheduleId: 'their-schedule' }
const theirWorker = { workerInstanceId: 'their-worker' }
const hourly = { ...theirSchedule, kind: 'anything', every: '1h' } as const

/** Created with an engine of their namespace. */
export async function makeNamed(engine: Engine): Promise<void> {
  await engine.workers.register({ ...worker, ...theirWorker })
  await engine.schedules.put(hourly)
  theirKey = await engine.apiKeys.create({ name: 'their-key', scopes: ['read'] })
}

let theirKey: ApiKeyCreated

export const namedChecks: Readonly<Record<string, (engine: Engine) => Promise<void>>> = {
  'schedules.put': async (engine) => {
    await refusal('namespace_mismatch', engine.schedules.put({ ...hourly, ...theirs }))
  },
  'schedules.pause': async (engine) => {
    await refusal('schedule_not_found', engine.schedules.pause(theirSchedule))
  },
  'schedules.resume': async (engine) => {
    await refusal('schedule_not_found', engine.schedules.resume(theirSchedule))
  },
  'schedules.trigger': async (engine) => {
    await refusal('schedule_not_found', engine.schedules.trigger(theirSchedule))
  },
  'schedules.describe': async (engine) => {
    expect(await engine.schedules.describe(theirSchedule)).toBeNull()
  },
  'schedules.delete': async (engine) => {
    expect(await engine.schedules.delete(theirSchedule)).toMatchObject({ kind: 'not_found' })
  },
  'schedules.list': async (engine) => {
    for (const request of [{}, theirs]) expect((await engine.schedules.list(request)).schedules).toEqual([])
  },
  'workers.register': async (engine) => {
    await refusal('namespace_mismatch', engine.workers.register({ ...worker, ...theirs }))
  },
  'workers.heartbeat': async (engine) => {
    expect(await engine.workers.heartbeat(theirWorker)).toMatchObject({ kind: 'not_registered' })
    await refusal('namespace_mismatch', engine.workers.heartbeat({ ...theirWorker, ...theirs }))
  },
  'workers.markDead': async (engine) => {
    expect(await engine.workers.markDead({ ...theirWorker, reason: 'r' })).toMatchObject({ kind: 'not_registered' })
  },
  'workers.list': async (engine) => {
    for (const request of [{}, theirs]) expect((await engine.workers.list(request)).workers).toEqual([])
  },
  'apiKeys.create': async (engine) => {
    await refusal('namespace_mismatch', engine.apiKeys.create({ name: 'ours', scopes: ['admin'], ...theirs }))
  },
  'apiKeys.list': async (engine) => {
    for (const request of [{}, theirs]) expect((await engine.apiKeys.list(request)).apiKeys).toEqual([])
  },
  'apiKeys.revoke': async (engine) => {
    await refusal('api_key_not_found', engine.apiKeys.revoke({ keyId: theirKey.keyId }))
  },
  'apiKeys.authenticate': async (engine) => {
    expect(await engine.apiKeys.authenticate({ key: theirKey.key })).toBeNull()
  },
}
