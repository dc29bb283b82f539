import { expect, onTestFinished, test } from 'vitest'
import { healthOf } from '../../src/connect/hold.ts'
import { appWith } from '../../src/server/app.ts'
import { Metrics } from '../../src/server/metrics.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import { appSetup, asking } from './app-setup.ts'
import * as stored from '../support/stored.ts'

async function doctored() {
  const fixture = await setup()
  const { engine, sql } = fixture
  const closed = { isOpen: async () => false, admitsProxied: true }
  const app = appWith(engine, {}, new Metrics(engine), closed, healthOf(sql))
  onTestFinished(() => app.stop())
  const keyOf = async (scope: 'admin' | 'operate', namespace?: string): Promise<Record<string, string>> => {
    const bound = namespace === undefined ? engine : engine.as({ namespace })
    const { key } = await bound.apiKeys.create({ name: 'ops', scopes: [scope] })
    return { authorization: `Bearer ${key}` }
  }
  return { ...fixture, ask: asking(app), keyOf }
}

test('an admin key of all namespaces can check and repair the database', async () => {
  const { ask, keyOf, sql } = await doctored()
  const id = await factory(sql).waiting()
  await stored.ready.remove(sql)
  const admin = await keyOf('admin')
  const stranded = async (): Promise<unknown> => {
    const { status, body } = await ask('GET', '/doctor?deep=false&timeout=30s', undefined, admin)
    expect(status).toBe(200)
    return body.findings.find((found: { check: string }) => found.check === 'stranded').verdict
  }
  expect(await stranded()).toBe('trouble')
  const { body } = await ask('POST', '/doctor/repair', undefined, admin)
  expect(body.repairs).toContainEqual({
    kind: 'requeued',
    sentence: `${id} was stranded and was returned to its queue`,
  })
  expect(await stranded()).toBe('fine')
})

test('no key, a key without the scope and a key of one namespace are refused', async () => {
  const { ask, keyOf } = await doctored()
  const [operator, bound] = [await keyOf('operate'), await keyOf('admin', 'shop')]
  for (const [method, path] of [
    ['GET', '/doctor'],
    ['POST', '/doctor/repair'],
  ] as const) {
    expect((await ask(method, path)).status).toBe(401)
    expect((await ask(method, path, undefined, operator)).status).toBe(403)
    expect((await ask(method, path, undefined, bound)).body.detail).toContain('this key is bound to shop')
  }
})

test('a bad request is refused, and an app without a database of its own has no doctor', async () => {
  const { ask, keyOf } = await doctored()
  const admin = await keyOf('admin')
  expect((await ask('GET', '/doctor?timeout=soon', undefined, admin)).body).toMatchObject({ code: 'invalid_input' })
  expect((await ask('GET', '/doctor?dep=true', undefined, admin)).body.detail).toContain('did you mean deep?')
  const mounted = await appSetup()
  expect((await mounted.ask('GET', '/doctor')).status).toBe(404)
})
