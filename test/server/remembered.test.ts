import { expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { Remembered } from '../../src/server/remembered.ts'
import { setup } from '../support/setup.ts'
import { createApp } from '../../src/server/app.ts'
import { asking } from './app-setup.ts'

test('one request id in two namespaces, or of two actors, is two requests', async () => {
  const { engine } = await setup()
  const ask = asking(createApp(engine))
  const { key } = await engine.apiKeys.create({ name: 'ops', scopes: ['admin'] })
  const create = async (headers: Record<string, string>): Promise<string> => {
    const sent = { authorization: `Bearer ${key}`, 'x-request-id': 'one', ...headers }
    const { status, body } = await ask('POST', '/v1/executions', { kind: 'k' }, sent)
    expect(status).toBe(201)
    return body.executionId
  }
  const alpha = await create({ 'flowfabric-namespace': 'alpha' })
  const ids = [
    alpha,
    await create({ 'flowfabric-namespace': 'beta' }),
    await create({ 'flowfabric-namespace': 'alpha', 'flowfabric-actor': 'ada' }),
    await create({}),
  ]
  expect(new Set(ids).size).toBe(4)
  expect(await create({ 'flowfabric-namespace': 'alpha' })).toBe(alpha)
  expect(await engine.as({ namespace: 'beta' }).executions.describe(ids[1] as never)).toMatchObject({ kind: 'k' })
})

test('remembered answers are bounded in bytes, and the oldest are dropped first', async () => {
  const remembered = new Remembered()
  const text = 'x'.repeat(60_000)
  let acts = 0
  const once = (number: number) =>
    remembered.once([number], async () => {
      acts += 1
      return { status: 200, text }
    })
  for (let number = 0; number < 1000; number++) await once(number)
  expect(remembered.bytes).toBeLessThanOrEqual(limits.rememberedBytes)
  expect(remembered.bytes).toBeGreaterThan(limits.rememberedBytes / 2)
  await once(999)
  expect(acts).toBe(1000)
  await once(0)
  expect(acts).toBe(1001)
})

test('a large answer and a refusal are not remembered', async () => {
  const remembered = new Remembered()
  await remembered.once(['large'], async () => ({ status: 200, text: 'x'.repeat(70_000) }))
  await expect(remembered.once(['refused'], () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(remembered.bytes).toBe(0)
})
