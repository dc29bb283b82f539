// Claims that find rows which another transaction has locked: free rows behind those are never left unclaimed.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import { around } from '../../src/sql/around.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import { engines } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { makeReady } from '../support/changes.ts'

const times = 50

interface Counted {
  readonly engine: Engine
  /** How many times each statement was sent, by name. */
  readonly sent: Map<string, number>
}

/** An engine on its own connections. It calls `before` each time before it sends the named statement. */
async function countedEngine(url: string, before: (name: string) => Promise<void> = async () => {}): Promise<Counted> {
  const inner = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => inner.close())
  const sent = new Map<string, number>()
  const sql: Sql = {
    ...around(inner, (ask) => ask()),
    async query(statement, values) {
      await before(statement.name)
      sent.set(statement.name, (sent.get(statement.name) ?? 0) + 1)
      return inner.query(statement, values)
    },
  }
  return { engine: createEngine(sql), sent }
}

async function createMany(engine: Engine, count: number): Promise<ExecutionId[]> {
  const made = await engine.executions.createMany(Array.from({ length: count }, () => ({ kind: 'k' })))
  return made.map((answer) => (answer.kind === 'refused' ? expect.unreachable() : answer.executionId))
}

/** A transaction that has locked the ready row of this execution and deletes it with its commit, as a claim does. */
async function takeReadyRow(url: string, executionId: ExecutionId): Promise<() => Promise<void>> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query(stored.ready.removing('execution_id = $1'), [parseExecutionId(executionId).uuid])
  return async () => void (await client.query('commit'))
}

test('a claim of one takes the free row behind a locked one, also when the locked one is deleted before it counts', async () => {
  const { engine, sql, url } = await setup()
  const [first, second] = await createMany(engine, 2)
  const commit = await takeReadyRow(url, first!)
  const late = await countedEngine(url, async (name) => {
    if (name.startsWith('execution.claim.')) await commit()
  })
  const { claims } = await late.engine.executions.claim(worker)
  expect(claims.map((claim) => claim.executionId)).toEqual([second])
  // The row that no claim took is restored for the invariants.
  await makeReady(sql, `lifecycle_phase = 'runnable'`)
})

test('four claims of one on four ready rows take one each, every time', async () => {
  const { engine, sql, url } = await setup()
  const claimers = await engines(url, 4)
  const counts: number[] = []
  for (let round = 1; round <= times; round += 1) {
    await createMany(engine, 4)
    const held = await hold(url, stored.executions.lockingTable('share'))
    const claims = claimers.map((one) => one.executions.claim(worker))
    await held.waiters(4)
    await held.release()
    const won = (await Promise.all(claims)).map((answer) => answer.claims)
    counts.push(...won.map((mine) => mine.length))
    await engine.executions.completeMany(won.flat().map(fenceOf))
  }
  expect(counts).toEqual(counts.map(() => 1))
  expect(await stored.ready.all(sql)).toEqual([])
})

test('a claim gives up on a row that stays locked after a few queries, and takes it when it is free', async () => {
  const { engine, url } = await setup()
  const [executionId] = await createMany(engine, 1)
  const change = stored.executions.changing({ retry_count: 1 }, 'execution_id = $1')
  const held = await hold(url, change, [parseExecutionId(executionId!).uuid])
  const other = await countedEngine(url)
  expect((await other.engine.executions.claim(worker)).claims).toEqual([])
  expect(other.sent.get('execution.claim')).toBeLessThanOrEqual(8)
  await held.release()
  expect((await other.engine.executions.claim(worker)).claims).toMatchObject([{ executionId }])
})

test('a claim sends no further statement when a grant reserves every row that it found', async () => {
  const { engine, url } = await setup()
  const [executionId] = await createMany(engine, 1)
  await engine.executions.grant({ executionId: executionId!, workerId: 'other', workerInstanceId: 'other-1' })
  const other = await countedEngine(url)
  expect((await other.engine.executions.claim(worker)).claims).toEqual([])
  expect(other.sent.get('execution.claim')).toBe(1)
})
