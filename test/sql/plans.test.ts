// The plans that our settings pin. Made while the tables were empty, never analysed or analysed, they keep to the indexes,
// because a prepared statement may keep its plan until the tables are large. On tables that are large, with the generic
// plan and with one for the very values, each statement is run: what it reads and sorts is bounded by what it was asked
// for, not by what there is.
//
// `PLAN_ROWS=1000000 npx vitest run --project sql test/sql/plans.test.ts` does it on a million executions.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { fill } from '../../bench/src/pages/load.ts'
import { planOptions } from '../../src/sql/plan-settings.ts'
import { allStatements, type Statement } from '../../src/sql/statement.ts'
import { createDatabase } from '../support/database.ts'
import { literalsOf, readFacts, sampleOf, sampleSize, type Facts } from './plan-sample.ts'

const engine = new URL('../../src/engine/', import.meta.url)
for (const file of await readdir(engine, { recursive: true })) {
  if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, engine)))
}

const rowCount = Number(process.env['PLAN_ROWS'] ?? 100_000)

// Audits read everything, and say so to the planner.
const pinned = allStatements().filter((statement) => !statement.name.startsWith('invariant.'))

// A handful of rows for each lane and task, and read by whoever looks for one of them.
const smallTables = new Set(['ff_queue', 'ff_lane_registry', 'ff_migration', 'ff_event_id', 'ff_duty'])

// A page is merged over all queues, of which the filled database has 84.
const mostRows = 100 * sampleSize

test.each([
  ['empty and never analysed', ''],
  ['analysed while empty', 'vacuum analyze'],
])('on a database that is %s every statement keeps to its indexes', async (_, script) => {
  const client = await connect(await freshDatabase(), planOptions)
  if (script !== '') await client.query(script)
  const faults: string[] = []
  for (const { name, text } of pinned) {
    const plan = await planOf(client, `explain (generic_plan, format json) ${text}`)
    faults.push(...shapeFaults(plan).map((fault) => `${name}: ${fault}`))
  }
  expect(faults).toEqual([])
})

let filled = ''

beforeAll(async () => {
  const database = await createDatabase(inject('postgres').url, undefined, inject('postgres').template)
  filled = database.url
  await fill(filled, filling)
  const client = new pg.Client(filled)
  await client.connect()
  for (const text of timers) await client.query(text)
  await client.end()
  return () => database.drop()
}, 600_000)

const filling = {
  schema: 'flowfabric',
  rows: rowCount,
  rareRows: 100,
  states: ['waiting', 'delayed', 'active', 'suspended', 'completed', 'failed', 'cancelled'],
  rareStates: ['resumable', 'waiting_children', 'rate_limited', 'expired', 'skipped'],
}

// Half of all timers are due.
const timers = [
  `update flowfabric.ff_lease set worker_instance_id = 'worker-' || get_byte(uuid_send(execution_id), 14),
      expires_at_ms = expires_at_ms - case when get_byte(uuid_send(execution_id), 15) < 128 then 172800000 else 0 end`,
  `update flowfabric.ff_exec_core set delay_until_ms = flowfabric.ff_now_ms() - 60000
    where delay_until_ms is not null and get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_exec_core
    set attempt_deadline_at_ms = flowfabric.ff_now_ms() - 60000, cancel_deadline_at_ms = flowfabric.ff_now_ms() - 60000
    where lifecycle_phase = 'active' and get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_exec_core set deadline_at_ms = flowfabric.ff_now_ms() - 60000
    where lifecycle_phase = 'suspended' and get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_suspension_current set timeout_at_ms = flowfabric.ff_now_ms() - 60000
    where get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_suspension_current set wake_at_ms = flowfabric.ff_now_ms() - 60000
    where get_byte(uuid_send(execution_id), 15) between 64 and 192`,
  `insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, created_at_ms, expires_at_ms, partition_key,
      state, waitpoint_key, token_kid)
    select gen_random_uuid(), execution_id, created_at_ms,
      flowfabric.ff_now_ms() + case when get_byte(uuid_send(execution_id), 15) < 128 then -60000 else 60000 end,
      partition_key, 'pending', 'early', 'bench'
    from flowfabric.ff_exec_core where lifecycle_phase = 'active'`,
]

test.each(['never analysed', 'analysed'])(
  `on a database of ${rowCount} executions, %s, no statement reads or sorts more than it was asked for`,
  { timeout: 600_000 },
  async (how) => {
    const client = await connect(filled, planOptions)
    if (how === 'analysed') await client.query('analyze')
    const facts = await readFacts(await connect(filled, ''))
    const faults: string[] = []
    for (const statement of pinned) {
      for (const mode of ['force_generic_plan', 'force_custom_plan']) {
        const plan = await run(client, statement, facts, mode)
        const found = [...shapeFaults(plan), ...sizeFaults(plan)]
        faults.push(...found.map((fault) => `${statement.name}, ${mode}: ${fault}`))
      }
    }
    expect(faults).toEqual([])
  },
)

test('the guard sees a scan, an index walked from end to end, and a sort of everything', async () => {
  const client = await connect(
    filled,
    '-c enable_seqscan=off -c enable_bitmapscan=off -c max_parallel_workers_per_gather=0',
  )
  const faultsOf = async (text: string): Promise<string[]> => {
    const plan = await planOf(client, `explain (analyze, timing off, format json) ${text}`)
    return [...shapeFaults(plan), ...sizeFaults(plan)].map((fault) => fault.replace(/\d+/, 'n'))
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

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** In a transaction that is rolled back, so that every statement meets the same rows. */
async function run(client: pg.Client, statement: Statement, facts: Facts, mode: string): Promise<PlanNode> {
  const values = literalsOf(statement, sampleOf(statement, facts))
  await client.query('begin')
  try {
    await client.query(`set local plan_cache_mode = ${mode}`)
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

/** What no statement may do, whatever the tables hold. */
function shapeFaults(node: PlanNode): string[] {
  const type = node['Node Type']
  const faults = (node.Plans ?? []).flatMap(shapeFaults)
  if (type === 'Hash Join' || type === 'Merge Join') faults.push(type)
  const table = largeTableOf(node)
  if (table === null) return faults
  if (type === 'Seq Scan') faults.push(`${type} on ${table}`)
  if (type.startsWith('Index') && node['Index Cond'] === undefined)
    faults.push(`${type} on ${table} without a condition`)
  return faults
}

function sizeFaults(node: PlanNode): string[] {
  const plans = node.Plans ?? []
  const faults = plans.flatMap(sizeFaults)
  const table = largeTableOf(node)
  const read = rowsOf(node) + (node['Rows Removed by Filter'] ?? 0) * (node['Actual Loops'] ?? 0)
  if (table !== null && node['Node Type'] !== 'ModifyTable' && read > mostRows)
    faults.push(`${read} rows of ${table} read`)
  const sorted = node['Node Type'] === 'Sort' ? plans.reduce((sum, plan) => sum + rowsOf(plan), 0) : 0
  if (sorted > mostRows) faults.push(`${sorted} rows sorted`)
  return faults
}

function rowsOf(node: PlanNode): number {
  // An average over the loops, to two digits.
  return Math.round((node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0))
}

function largeTableOf({ 'Relation Name': table }: PlanNode): string | null {
  return table === undefined || !table.startsWith('ff_') || smallTables.has(table) ? null : table
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
