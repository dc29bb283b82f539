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
import type { Statement } from '../../src/sql/statement.ts'
import { createDatabase } from '../support/database.ts'
import { engineStatements } from '../support/engine-statements.ts'
import { literalsOf, readFacts, sampleOf, sampleSize, type Facts } from './plan-sample.ts'

const engine = new URL('../../src/engine/', import.meta.url)
for (const file of await readdir(engine, { recursive: true })) {
  if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, engine)))
}

const rowCount = Number(process.env['PLAN_ROWS'] ?? 100_000)

// Audits read everything, and say so to the planner; looks at the database's health do so within a time.
const pinned = engineStatements().filter(({ name }) => !name.startsWith('invariant.') && !name.startsWith('health.'))

// A handful of rows for each lane, task and worker, and read by whoever looks for one of them.
const smallTables = new Set(['ff_queue', 'ff_lane_registry', 'ff_migration', 'ff_event_id', 'ff_duty', 'ff_worker'])

// A page is merged over all queues, of which the filled database has 84.
const mostRows = 100 * sampleSize

test.each([
  ['empty and never analysed', ''],
  ['analysed while empty', 'vacuum analyze'],
])('on a database that is %s every statement keeps to its indexes', async (_, script) => {
  const client = await connect(await freshDatabase(), planOptions)
  if (script !== '') await client.query(script)
  const leading = await leadingColumns(client)
  const faults: string[] = []
  for (const { name, text } of pinned) {
    const plan = await planOf(client, `explain (generic_plan, format json) ${text}`)
    const found = [...shapeFaults(plan), ...skipFaults(plan, leading), ...openFaults(plan)]
    faults.push(...found.map((fault) => `${name}: ${fault}`))
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
  for (const text of [...timers, ...flows, ...lives]) await client.query(text)
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
  `insert into flowfabric.ff_schedule (schedule_id, created_at_ms, changed_at_ms, next_fire_at_ms, planned_at_ms, every_ms,
      anchor_at_ms, jitter_ms, catch_up_limit, overlap, catch_up, partition_key, namespace, schedule_name, request_hash,
      queue_id, priority, last_execution_id, tags)
    select execution_id, 0, 0, planned_at_ms, planned_at_ms, 60000, 0, 0, 100,
      case when get_byte(uuid_send(execution_id), 14) < 128 then 'skip' else 'cancelPrevious' end::flowfabric.ff_schedule_overlap,
      'last', partition_key, namespace, execution_id::text, '', queue_id, 0, execution_id,
      '{"team": "team-1"}'
    from flowfabric.ff_exec_core
    cross join lateral (select flowfabric.ff_now_ms()
      + case when get_byte(uuid_send(execution_id), 15) < 128 then -60000 else 60000 end as planned_at_ms) t
    where lifecycle_phase = 'active'`,
  `insert into flowfabric.ff_step (execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count,
      attempt_index, lease_epoch, recorded_at_ms, total_bytes, total_count)
    select execution_id, generation, 'x', no, no, no, 'step', 'succeeded', 1, 0, 1, created_at_ms, 0, no
    from flowfabric.ff_exec_core cross join generate_series(1, 3) as no`,
  `insert into flowfabric.ff_dispatch (execution_id, generation, parent_id, created_at_ms, outcome, has_children)
    select execution_id, generation, parent_id, created_at_ms, 'success', parent_id is null
    from flowfabric.ff_exec_core
    where get_byte(uuid_send(execution_id), 15) < 8 and (parent_id is not null or lifecycle_phase = 'terminal')`,
]

// A quarter of all executions are members of flows of ten, each after the one before it. Of those that have ended, one in
// two is still to be resolved; of those that live, one in eight is to be cancelled.
const flows = [
  `create temporary table planned as
    select execution_id, namespace, partition_key, created_at_ms, terminal_outcome, started_at_ms,
      (row_number() over flow - 1) % 10 as place,
      lag(execution_id) over flow as upstream_id,
      md5(concat_ws(' ', namespace, partition_key, (row_number() over flow - 1) / 10))::uuid as flow_id,
      get_byte(uuid_send(execution_id), 15) as chance
    from flowfabric.ff_exec_core
    where get_byte(uuid_send(execution_id), 14) < 64
    window flow as (partition by namespace, partition_key order by created_at_ms, execution_id)`,
  `update flowfabric.ff_exec_core e set flow_id = p.flow_id, attached = e.attached | 16
    from planned p where p.execution_id = e.execution_id`,
  `insert into flowfabric.ff_flow_core (flow_id, root_flow_id, created_at_ms, last_mutation_at_ms, closed_at_ms,
      ended_at_ms, outcome, member_count, edge_count, partition_key, namespace, flow_kind, creator_identity)
    select flow_id, flow_id, min(created_at_ms), min(created_at_ms), min(created_at_ms),
      case when min(chance) < 16 then flowfabric.ff_now_ms() end,
      (case when min(chance) < 16 then 'success' else 'none' end)::flowfabric.ff_terminal_outcome,
      count(*), count(*) - 1, partition_key, namespace, 'plan', 'bench'
    from planned group by flow_id, partition_key, namespace`,
  `insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
    select flow_id, created_at_ms, namespace, 'team', 'team-1' from flowfabric.ff_flow_core`,
  `insert into flowfabric.ff_flow_member (flow_id, execution_id, member_name)
    select flow_id, execution_id, 'member-' || place from planned`,
  `insert into flowfabric.ff_edge (flow_id, edge_id, upstream_id, downstream_id, created_at_ms, kind, created_by)
    select flow_id, gen_random_uuid(), upstream_id, execution_id, created_at_ms, 'success_only', 'bench'
    from planned where place > 0`,
  `insert into flowfabric.ff_edge_group (downstream_id, flow_id, total, policy, on_satisfied, is_sealed)
    select execution_id, flow_id, 1, 'all_of', 'let_run', true from planned where place > 0`,
  `insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
    select execution_id, 0, flow_id, created_at_ms, terminal_outcome
    from planned where terminal_outcome <> 'none' and chance >= 128`,
  `insert into flowfabric.ff_cancel_backlog (execution_id, generation, flow_id, created_at_ms, reason, actor)
    select execution_id, 0, flow_id, created_at_ms, 'flow_cancelled', 'bench'
    from planned where terminal_outcome = 'none' and chance < 32`,
  `insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor)
    select created_at_ms, flow_id, 'flow_created', partition_key, namespace, 'bench' from flowfabric.ff_flow_core`,
  'drop table planned',
]

// Those that statements are tried on have waited two thousand times before: each time for a signal by name, and for one through a
// waitpoint.
const lives = [
  `create temporary table lived as
    select execution_id, partition_key, generation, no, gen_random_uuid() as waitpoint_id, gen_random_uuid() as suspension_id
    from (
      select *, row_number() over (partition by lifecycle_phase order by execution_id) as place
      from flowfabric.ff_exec_core
      where lifecycle_phase in ('active', 'suspended')
    ) e
    cross join generate_series(1, 2000) as no
    where place <= ${sampleSize}`,
  `insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
      closed_at_ms, partition_key, state, waitpoint_key, token_kid, close_reason)
    select waitpoint_id, execution_id, suspension_id, 0, 0, 0, partition_key, 'closed', 'early', 'bench', 'resumed'
    from lived`,
  `insert into flowfabric.ff_signal (execution_id, signal_id, waitpoint_id, suspension_id, accepted_at_ms, taken_at_ms,
      generation, effect, signal_name, signal_category, source_type, source_identity)
    select execution_id, gen_random_uuid(), case when way = 'token' then waitpoint_id end, suspension_id, 0, 0,
      generation, 'resume_condition_satisfied', 'x', 'x', 'token', 'x'
    from lived
    cross join (values ('token'), ('name')) as w (way)`,
  // Who runs was given both signals of his last wait.
  `insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, closed_at_ms, close_reason,
      lease_epoch, lease_id, generation, attempt_index, partition_key, reason_code, timeout_behavior, requested_by, condition,
      signal_nos)
    select e.execution_id, l.suspension_id, 0, 0, 'resumed', 1, e.lease_id, e.generation, 0, e.partition_key,
      'waiting_for_signal', 'fail', 'bench', '{"kind":"operator"}',
      array(select g.signal_no from flowfabric.ff_signal g
        where g.execution_id = e.execution_id order by g.signal_no desc limit 2)
    from lived l
    join flowfabric.ff_exec_core e using (execution_id)
    where l.no = 2000 and e.lifecycle_phase = 'active'`,
  'drop table lived',
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
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
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

/** By the name of the index; an expression is no column. */
async function leadingColumns(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; leading: string }>(
    `select c.relname as name, a.attname as leading
     from pg_index i
     join pg_class c on c.oid = i.indexrelid
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where c.relnamespace = 'flowfabric'::regnamespace`,
  )
  return new Map(rows.map((row) => [row.name, row.leading]))
}

// Two of their indexes begin alike, so that the planner may take the wrong one; or one that begins with the execution is
// searched by what follows it alone.
const enteredByFirstColumn = new Set(['ff_step', 'ff_signal', 'ff_waitpoint_pending'])

/** An index that is entered by a later column is read from end to end, though it looks as if there were a condition. */
function skipFaults(node: PlanNode, leading: ReadonlyMap<string, string>): string[] {
  const faults = (node.Plans ?? []).flatMap((plan) => skipFaults(plan, leading))
  const { 'Index Name': index, 'Index Cond': condition } = node
  const table = largeTableOf(node)
  if (index === undefined || condition === undefined || table === null || !enteredByFirstColumn.has(table))
    return faults
  const column = leading.get(index)
  if (column !== undefined && !condition.includes(column)) faults.push(`${index} entered without ${column}`)
  return faults
}

/** What a wait may still take is looked for in the index of that, not among all that its execution has received. */
function openFaults(node: PlanNode): string[] {
  const faults = (node.Plans ?? []).flatMap(openFaults)
  const isFiltered = largeTableOf(node) === 'ff_signal' && node.Filter?.includes('taken_at_ms IS NULL') === true
  return isFiltered ? [...faults, `${node['Index Name']} read for what is not taken`] : faults
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
