import { expect, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import { outlastBy, type Outlast, type Time } from '../../src/model/outlast.ts'
import { refusal } from '../support/refusal.ts'

const away = (): EngineError => new EngineError('database_unreachable', 'away')

function failing(times: number, error: () => EngineError = away) {
  let tries = 0
  const read = async (): Promise<string> => {
    tries += 1
    if (tries <= times) throw error()
    return 'read'
  }
  return { read, tries: () => tries }
}

/** Time passes immediately, as far as each wait needs. */
function fast() {
  let now = 0
  const time: Time = {
    now: () => now,
    sleep: async (ms) => void (now += ms),
  }
  return { time, pass: (ms: number) => void (now += ms) }
}

const outlast = <T>(limit: Outlast, read: () => Promise<T>): Promise<T> => outlastBy(fast().time, limit, read)

test.each(['database_unreachable', 'database_unavailable', 'server_unreachable', 'server_stopping'] as const)(
  'a read that fails with %s is repeated until it is answered',
  async (code) => {
    const { read, tries } = failing(3, () => new EngineError(code, 'away'))
    expect(await outlast({ until: Infinity }, read)).toBe('read')
    expect(tries()).toBe(4)
  },
)

test('any other refusal is thrown at once', async () => {
  const { read, tries } = failing(1, () => new EngineError('flow_not_found', 'gone'))
  await refusal('flow_not_found', outlast({ until: Infinity }, read))
  expect(tries()).toBe(1)
})

test('a caller whose time limit is over receives the outage', async () => {
  const { read, tries } = failing(Infinity)
  await refusal('database_unreachable', outlast({ until: 0 }, read))
  expect(tries()).toBe(1)
})

test('a wait without a limit gives up after five minutes', async () => {
  const { time, pass } = fast()
  const { read, tries } = failing(Infinity, () => {
    pass(100_000)
    return away()
  })
  await refusal('database_unreachable', outlastBy(time, { until: Infinity }, read))
  expect(tries()).toBe(3)
})

test('an abort ends the wait with its reason', async () => {
  const controller = new AbortController()
  const { read } = failing(Infinity, () => {
    controller.abort(new Error('enough'))
    return away()
  })
  await expect(outlast({ until: Infinity, signal: controller.signal }, read)).rejects.toThrow('enough')
})
