// A process that carries the supervisor: `ff.supervise()`.
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { connect, type ConnectOptions } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { createDatabase } from '../support/database.ts'
import { refusal } from '../support/refusal.ts'

const until = { interval: 10 }

async function open(url: string, options?: ConnectOptions): Promise<FlowFabric> {
  const ff = await connect(url, options)
  onTestFinished(() => ff.close())
  return ff
}

async function newDatabase(): Promise<string> {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  onTestFinished(() => database.drop())
  return database.url
}

function stateOf(ff: FlowFabric, id: ExecutionId) {
  return async () => (await ff.engine.executions.describe(id))?.publicState
}

test.each([
  ['embedded', async () => 'memory:'],
  ['Postgres', newDatabase],
])('%s: duties run until the end, and waiting workers are notified of ready executions', async (_, url) => {
  const ff = await open(await url())
  const supervisor = ff.supervise()
  const { executionId } = await ff.engine.executions.create({ kind: 'k', delay: 100 })
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  const { claims } = await ff.engine.executions.claim({ ...worker, wait: '1m' })
  expect(claims).toMatchObject([{ executionId }])
  await expect.poll(() => supervisor.reports.get('retention'), until).toMatchObject({ processed: 0, errors: 0 })
  await ff.close()
  await refusal('engine_closed', (async () => ff.supervise())())
})

test('a supervisor in another process promotes a delayed execution at its time', async () => {
  const url = await newDatabase()
  const [submitting, supervising] = [await open(url), await open(url)]
  // An hour: only the other process's notification can promote it sooner.
  const supervisor = supervising.supervise({ intervals: { 'delayed-promoter': '1h' } })
  await expect.poll(() => supervisor.reports.has('delayed-promoter'), until).toBe(true)
  // Until the listening connection is open, a hint is lost; then the next one helps.
  const ids: ExecutionId[] = []
  await expect
    .poll(async () => {
      ids.push((await submitting.engine.executions.create({ kind: 'k', delay: 20 })).executionId)
      return stateOf(submitting, ids[0]!)()
    }, until)
    .toBe('waiting')
})

test('it continues after the database has lost its connections', async () => {
  const url = await newDatabase()
  const lines: string[] = []
  const hear = (line: string): void => void lines.push(line)
  const ff = await open(url, { logger: { debug: hear, info: hear, warn: hear, error: hear } })
  ff.supervise()
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  for (let round = 0; round < 5; round++) {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const { executionId } = await ff.engine.executions.create({ kind: 'k', delay: 50 })
    await expect.poll(stateOf(ff, executionId), until).toBe('waiting')
  }
})

test('endings are kept for the configured time', async () => {
  const url = await newDatabase()
  const ff = await open(url)
  const { executionId } = await ff.engine.executions.create({ kind: 'k' })
  await ff.engine.executions.cancel({ executionId })
  const intervals = { retention: 20 }
  const keeping = ff.supervise({ retention: { endings: '1h', log: '1h' }, intervals })
  await expect.poll(() => keeping.reports.has('retention'), until).toBe(true)
  await keeping.stop()
  expect(await stateOf(ff, executionId)()).toBe('cancelled')
  ff.supervise({ retention: { endings: 0 }, intervals })
  await expect.poll(stateOf(ff, executionId), until).toBeUndefined()
})

test.each([
  ['no object', 7],
  ['an unknown option', { interval: 10 }],
  ['a duty that does not exist', { intervals: { 'lease-expiri': 10 } }],
  ['the upkeep of another kind of database', { intervals: { 'embedded-upkeep': '1s' } }],
  ['an unknown retention', { retention: { steps: '1d' } }],
  ['a retention that is no duration', { retention: { log: 'long' } }],
  ['a filter that does not exist', { filter: { lane: 'a' } }],
  ['a namespace that is none', { filter: { namespace: '' } }],
  ['a logger without methods', { logger: {} }],
  ['duties of its own', { duties: [] }],
])('%s is refused', async (_, options) => {
  const ff = await open(await newDatabase(), { migrate: false })
  await refusal('invalid_input', (async () => ff.supervise(options as never))())
})
