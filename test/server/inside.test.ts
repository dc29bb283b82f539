// Errors with details of the inside of the server: callers receive the sentence of the error table, and the log has
// the rest.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError, errorTable, type ErrorCode } from '../../src/model/errors.ts'
import { createApp } from '../../src/server/app.ts'
import { setup } from '../support/setup.ts'
import { asking } from './app-setup.ts'

const secret = 'Cannot connect to postgres://ff_app:***@10.1.2.3:5432/ffn: role "ff_app" does not exist'

async function failing(error: unknown) {
  const { engine } = await setup()
  const fail = async (): Promise<never> => {
    throw error
  }
  const [log, details]: [string[], string[]] = [[], []]
  const say = (message: string): void => void log.push(message)
  const watched = (bound: Engine): Engine => ({
    ...bound,
    as: (caller) => watched(bound.as(caller)),
    executions: { ...bound.executions, list: fail },
    waitpoints: { ...bound.waitpoints, describeLink: fail },
    signals: {
      ...bound.signals,
      deliverMany: async (requests) => requests.map(() => ({ kind: 'refused', error: error as EngineError })),
    },
  })
  const logger = { debug: (message: string) => void details.push(message), info: () => {}, warn: say, error: say }
  const app = createApp(watched(engine), { authenticate: null, logger })
  return { app, ask: asking(app), log, details }
}

const inside: readonly ErrorCode[] = [
  'database_unreachable',
  'database_unavailable',
  'database_auth_failed',
  'database_right_missing',
  'database_not_found',
  'database_error',
  'schema_missing',
  'schema_outdated',
  'directory_locked',
  'wrong_wrapping_secret',
  'corruption',
  'internal_error',
]

test.each(inside)(
  'the answer for %s has the sentence of the error table, and the log has the error under the request id',
  async (code) => {
    const { ask, log, details } = await failing(new EngineError(code, secret, { host: '10.1.2.3' }))
    const asked = await ask('GET', '/v1/executions', undefined, { 'x-request-id': 'request-7' })
    expect(asked).toMatchObject({
      status: errorTable[code].status,
      body: { code, details: {}, requestId: 'request-7' },
    })
    expect(JSON.stringify(asked.body)).not.toMatch(/ff_app|10\.1\.2\.3/)
    expect(asked.body.detail).toContain(errorTable[code].meaning.slice(0, -1))
    // The connection reports an outage, not each request.
    const lines = code === 'database_unreachable' ? details : log
    expect(lines).toEqual([expect.stringMatching(/GET \/v1\/executions \(request-7\): [^]*ff_app/)])
  },
)

test('items of a set have the sentence of the error table too, and the error is logged once for all of them', async () => {
  const { ask, log } = await failing(new EngineError('database_error', secret))
  const items = Array.from({ length: 20 }, () => ({ waitpointId: 'w', token: 't', name: 'n' }))
  const { status, body } = await ask('POST', '/v1/signals/deliver', { items })
  expect(status).toBe(200)
  expect(body.items[19].error).toMatchObject({ code: 'database_error', status: 500, details: {} })
  expect(JSON.stringify(body)).not.toContain('ff_app')
  expect(log).toHaveLength(1)
})

test('the approval page has the sentence of the error table too', async () => {
  const { app, log } = await failing(new EngineError('database_unavailable', secret))
  const page = await app.fetch(new Request('http://localhost/approve?link=x'))
  expect(page.status).toBe(503)
  expect(await page.text()).not.toMatch(/ff_app|10\.1\.2\.3/)
  expect(log).toHaveLength(1)
})

test.each([
  ['database_unavailable', 1],
  ['database_unreachable', 0],
] as const)('while requests fail with %s, the log has few lines for many requests', async (code, least) => {
  const { ask, log } = await failing(new EngineError(code, secret))
  await Promise.all(Array.from({ length: 50 }, () => ask('GET', '/v1/executions')))
  expect(log.length).toBeGreaterThanOrEqual(least)
  expect(log.length).toBeLessThan(least === 0 ? 1 : 10)
})

test('an error of the caller keeps its sentence', async () => {
  const { ask, log } = await failing(new EngineError('invalid_cursor', 'the cursor is "x"; it must be one of a list'))
  expect((await ask('GET', '/v1/executions')).body.detail).toBe('the cursor is "x"; it must be one of a list')
  expect(log).toEqual([])
})
