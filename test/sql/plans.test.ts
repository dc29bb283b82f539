// The plans that our settings pin. Plans made while the tables were empty, never analysed or analysed, use the indexes,
// because a prepared statement may keep its plan until the tables are large. On large tables, each statement is run with the
// generic plan and with a plan for its values: the request bounds the rows that it reads and sorts, not the size of the
// tables. A third case are tables that were large, were found empty by a vacuum and are large again, with the statistics of
// the moment between: every row is still looked up by its key. `PLAN_ROWS=1000000 npx vitest run --project sql
// test/sql/plans.test.ts` runs it on a million executions.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { planOptions } from '../../src/sql/plan-settings.ts'
import type { Statement } from '../../src/sql/statement.ts'
import { createDatabase } from '../support/database.ts'
import { engineStatements } from '../support/engine-statements.ts'
import {
  keyFaults,
  openFaults,
  readIndexes,
  shapeFaults,
  sizeFaults,
  skipFaults,
  type PlanNode,
} from './plan-faults.ts'
import { fillForPlans } from './plan-filling.ts'
import { literalsOf, readFacts, sampleOf, writesBefore, type Facts } from './plan-sample.ts'
import { empty, refill } from './plan-thinning.ts'
import { patience } from '../support/patience.ts'

const engine = new URL('../../src/engine/', import.meta.url)
for (const file of await readdir(engine, { recursive: true })) {
  if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, engine)))
}

const rowCount = Number(process.env['PLAN_ROWS'] ?? 100_000)

// Audits read whole tables, and state that to the planner; queries of the database's health have a time limit.
const pinned = engineStatements().filter(({ name }) => !name.startsWith('invariant.') && !name.startsWith('health.'))

test.each([
  ['empty and never analysed', ''],
  ['analysed while empty', 'vacuum analyze'],
])('on a database that is %s every statement uses its indexes', async (_, script) => {
  const client = await connect(await freshDatabase(), planOptions)
  if (script !== '') await client.query(script)
  expect(await plannedFaults(client)).toEqual([])
})

async function plannedFaults(client: pg.Client): Promise<string[]> {
  const indexes = await readIndexes(client)
  const faults: string[] = []
  for (const { name, text } of pinned) {
    const plan = await planOf(client, `explain (generic_plan, format json) ${text}`)
    const found = [
      ...shapeFaults(plan, indexes),
      ...skipFaults(plan, indexes),
      ...openFaults(plan),
      ...keyFaults(plan, indexes),
    ]
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  }
  return faults
}

let filled = ''

beforeAll(async () => {
  const database = await createDatabase(inject('postgres').url, undefined, inject('postgres').template)
  filled = database.url
  await fillForPlans(filled, rowCount)
  return () => database.drop()
}, patience(600_000))

test.each(['never analysed', 'analysed'])(
  `on a database of ${rowCount} executions, %s, no statement reads or sorts more rows than its request bounds`,
  { timeout: patience(600_000) },
  async (how) => {
    const client = await connect(filled, planOptions)
    if (how === 'analysed') await client.query('analyze')
    expect(await runFaults(client, await readFacts(await connect(filled, '')))).toEqual([])
  },
)

async function runFaults(client: pg.Client, facts: Facts): Promise<string[]> {
  const indexes = await readIndexes(client)
  const faults: string[] = []
  for (const statement of pinned) {
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      const plan = await run(client, statement, facts, mode)
      const found = [...shapeFaults(plan, indexes), ...sizeFaults(plan), ...keyFaults(plan, indexes)]
      faults.push(...found.map((fault) => `${statement.name}, ${mode}: ${fault}`))
    }
  }
  return faults
}

test.each(['pages and one row', 'nothing'] as const)(
  'after a vacuum that found %s in the emptying tables, every statement looks rows up by their key',
  { timeout: patience(600_000) },
  async (left) => {
    const client = await connect(filled, planOptions)
    await client.query('analyze')
    const facts = await readFacts(await connect(filled, ''))
    await empty(client, left)
    const planned = await plannedFaults(client)
    await refill(client)
    const ran = await runFaults(client, facts)
    expect([...planned, ...ran]).toEqual([])
  },
)

test('the guard reports that another index could serve a lookup by key', async () => {
  const client = await connect(filled, planOptions)
  const faults = async (): Promise<string[]> => {
    const plan = await planOf(
      client,
      `explain (format json) select from flowfabric.ff_lease
       where execution_id = any (array[gen_random_uuid()]) and expires_at_ms > flowfabric.ff_now_ms()`,
    )
    return keyFaults(plan, await readIndexes(client))
  }
  expect(await faults()).toEqual([])
  await client.query('begin')
  await client.query('create index tempting on flowfabric.ff_lease (expires_at_ms, execution_id)')
  expect(await faults()).toContain('tempting may be read by expires_at_ms where ff_lease_pkey has its key')
  await client.query('rollback')
})

test('the guard reports a scan, an index walked from end to end, and a sort of all rows', async () => {
  const client = await connect(
    filled,
    '-c enable_seqscan=off -c enable_bitmapscan=off -c max_parallel_workers_per_gather=0',
  )
  const indexes = await readIndexes(client)
  const faultsOf = async (text: string): Promise<string[]> => {
    const plan = await planOf(client, `explain (analyze, timing off, format json) ${text}`)
    return [...shapeFaults(plan, indexes), ...sizeFaults(plan)].map((fault) => fault.replace(/\d+/, 'n'))
  }
  const walk = 'select execution_id from flowfabric.ff_exec_core where priority = 7 order by execution_id'
  expect(await faultsOf(walk)).toEqual([
    'Index Scan on ff_exec_core without a condition',
    'n rows of ff_exec_core read',
  ])
  const sort = 'select * from flowfabric.ff_exec_input where partition_key < 200 order by creator_identity limit 1'
  expect(await faultsOf(sort)).toEqual(['n rows of ff_exec_input read', 'n rows sorted'])
  await client.query('set enable_seqscan = on')
  expect(await faultsOf('select * from flowfabric.ff_exec_result')).toEqual(['Seq Scan on ff_exec_result'])
})

/** Runs in a transaction that is rolled back, so that every statement finds the same rows. */
async function run(client: pg.Client, statement: Statement, facts: Facts, mode: string): Promise<PlanNode> {
  const values = literalsOf(statement, sampleOf(statement, facts))
  await client.query('begin')
  try {
    await client.query(`set local plan_cache_mode = ${mode}`)
    for (const before of writesBefore(statement, facts)) await client.query(before)
    await client.query(`prepare guarded as ${statement.text}`)
    return await planOf(client, `explain (analyze, timing off, format json) execute guarded${values}`)
  } catch (error) {
    throw new Error(`${statement.name} cannot be run`, { cause: error })
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
}

async function planOf(client: pg.Client, text: string): Promise<PlanNode> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(text)
  return rows[0]!['QUERY PLAN'][0].Plan
}

async function freshDatabase(): Promise<string> {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  onTestFinished(() => database.drop())
  return database.url
}

async function connect(url: string, options: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
