// Connections that are open and never answer again, as a worker and its callers see them.
import { expect, test } from 'vitest'
import { task } from '../../src/index.ts'
import { Notes } from '../sql/fixture.ts'
import { startSilentProxy } from '../sql/silent-proxy.ts'
import { refusal } from '../support/refusal.ts'
import { emptyDatabase, open } from './empty-database.ts'

const timeout = '1600ms'

test('submits, results, a subscription and a worker continue, and nothing is lost or done twice', async () => {
  const url = await emptyDatabase()
  const proxy = await startSilentProxy(url)
  const logger = new Notes()
  const ff = await open(proxy.url, { timeout, logger })
  const ran: number[] = []
  const note = task('note', async (_ctx, n: number) => {
    ran.push(n)
    return n
  })
  const worker = ff.worker({ tasks: [note], leaseTtl: '2s', duties: false })
  await worker.start()
  const events = await ff.engine.events.subscribe({ kinds: ['ended'] })
  const first = await ff.submit(note, 0)
  await first.result()
  proxy.silenceOpen()
  const runs = await Promise.all([1, 2, 3].map((n) => ff.submit(note, n)))
  expect(await Promise.all(runs.map((run) => run.result({ timeout: '1m' })))).toEqual([1, 2, 3])
  const ended: unknown[] = []
  for (let count = 0; count < 4; count++) {
    const { value } = await events.next()
    ended.push(value !== undefined && 'executionId' in value && value.executionId)
  }
  expect(ended.toSorted()).toEqual([first.id, ...runs.map(({ id }) => id)].toSorted())
  expect(ran.toSorted()).toEqual([0, 1, 2, 3])
  expect(logger.details.filter((line) => line.includes('did not respond'))).toHaveLength(1)
  await worker.stop()
})

test('a call that may not be repeated fails as database_unreachable, and the next one works', async () => {
  const url = await emptyDatabase()
  const proxy = await startSilentProxy(url)
  const ff = await open(proxy.url, { timeout })
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  proxy.silenceOpen()
  const error = await refusal('database_unreachable', ff.engine.executions.describe(executionId))
  expect(error.retryable).toBe(true)
  expect(await ff.engine.executions.describe(executionId)).not.toBeNull()
})

test.each(['50ms', '2d'] as const)('a timeout of %s is refused', async (wrong) => {
  const error = await refusal('invalid_input', open('postgres://nowhere/', { timeout: wrong }))
  expect(error.message).toContain('timeout')
})

test('the embedded database takes no timeout', async () => {
  await refusal('invalid_input', open('memory:', { timeout }))
})
