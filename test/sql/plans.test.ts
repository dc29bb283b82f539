// The plans that our settings pin: on an empty database and on a filled and analysed one, with the generic plan that a
// prepared statement settles on, no statement of the engine reads a table that grows from end to end, or joins by
// building a hash of one.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { planOptions } from '../../src/sql/plan-settings.ts'
import { allStatements } from '../../src/sql/statement.ts'
import { createDatabase } from '../support/database.ts'

const engine = new URL('../../src/engine/', import.meta.url)
for (const file of await readdir(engine, { recursive: true })) {
  if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, engine)))
}

// Audits read everything, and say so to the planner.
const pinned = allStatements().filter((statement) => !statement.name.startsWith('invariant.'))

// A handful of rows for each lane and task, and read by whoever looks for one of them.
const smallTables = new Set(['ff_queue', 'ff_lane_registry', 'ff_migration', 'ff_event_id'])

test('on an empty database every statement keeps to its indexes', async () => {
  const url = await freshDatabase()
  expect(await faultyPlans(url)).toEqual([])
})

test('on a filled and analysed database every statement keeps to its indexes', async () => {
  const url = await freshDatabase()
  await fill(url)
  expect(await faultyPlans(url)).toEqual([])
})

test('retention looks a key up by the whole of it, also on a database that was never analysed', async () => {
  const url = await freshDatabase()
  await fill(url, '')
  const client = await connect(url, planOptions)
  const { text } = pinned.find((statement) => statement.name === 'duty.retention')!
  const lookups = nodesOf(await explain(client, text)).filter((node) => node['Relation Name'] === 'ff_idempotency_key')
  const conditions = lookups.flatMap((node) => node['Index Cond'] ?? [])
  // Due, judged under the lock, deleted.
  expect(conditions).toHaveLength(3)
  expect(conditions.filter((condition) => !condition.includes('idempotency_key = '))).toEqual([])
})

test('the guard sees a scan', async () => {
  const url = await freshDatabase()
  const plan = await explain(await connect(url, ''), 'select * from flowfabric.ff_exec_core')
  expect(faultsOf(plan)).toEqual(['Seq Scan on ff_exec_core'])
})

async function faultyPlans(url: string): Promise<string[]> {
  const client = await connect(url, planOptions)
  const faults: string[] = []
  for (const { name, text } of pinned) {
    const found = faultsOf(await explain(client, text))
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  }
  return faults
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

async function explain(client: pg.Client, text: string): Promise<PlanNode> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (generic_plan, format json) ${text}`,
  )
  return rows[0]!['QUERY PLAN'][0].Plan
}

function faultsOf(node: PlanNode): string[] {
  const type = node['Node Type']
  const relation = node['Relation Name']
  const faults = (node.Plans ?? []).flatMap(faultsOf)
  if (type === 'Hash Join' || type === 'Merge Join') faults.push(type)
  if (type === 'Seq Scan' && relation !== undefined && !smallTables.has(relation)) faults.push(`${type} on ${relation}`)
  return faults
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

async function fill(url: string, afterwards = 'analyze'): Promise<void> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  const { executions } = createEngine(sql)
  const requests = Array.from({ length: 3000 }, (_, index) => ({
    kind: `kind-${index % 3}`,
    lane: `lane-${index % 5}`,
    tags: { parity: index % 2 === 0 ? 'even' : 'odd' },
    ...(index % 4 === 0 && { delay: '1h' as const }),
    ...(index % 7 === 0 && { idempotencyKey: `key-${index}` }),
  }))
  const answers = await executions.createMany(requests)
  const created = answers.flatMap((answer) => (answer.kind === 'created' ? [answer] : []))
  await executions.cancelMany(created.slice(0, 500))
  await sql.script(afterwards)
  await sql.close()
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
