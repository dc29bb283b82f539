// The process that measures one wait of durable code at a time, through `ff.worker`: from `ctx.waitFor` over the signal
// to the code after it. Next to each, a single row is inserted and committed by a connection of its own. Statements and
// processor time are counted over the whole life of each execution, from its submission to its end.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { connect, RunLeft, task } from '../../../src/index.ts'
import type { FlowFabric } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface DurableTripInput {
  readonly url: string
  readonly count: number
}

export type Answering = 'name' | 'token'

export interface DurableTrips {
  /** In milliseconds, each beside the other. */
  readonly commitMs: number[]
  readonly tripMs: number[]
  /** Of each execution. */
  readonly statements: number
  readonly postgresMs: number
  readonly nodeMs: number
}

const table = 'create table raw_row (id uuid primary key default uuidv7(), payload bytea not null)'
const insert = { name: 'insert', text: 'insert into raw_row (payload) values ($1)' }
const payload = Buffer.alloc(64)
const warmUpCount = 50

/** The times that the code of the current execution reports. */
interface Marks {
  waitpoint: { readonly waitpointId: string; readonly token: string } | null
  waitedAt: number
  resumedAt: number
  suspended: () => void
  resumed: () => void
}
const marks: Marks = { waitpoint: null, waitedAt: 0, resumedAt: 0, suspended: () => {}, resumed: () => {} }

const askByName = task('ask-by-name', async (ctx) => {
  marks.waitedAt ||= performance.now()
  await ctx.waitFor('answer')
  marks.resumedAt = performance.now()
  marks.resumed()
})

const askByToken = task('ask-by-token', async (ctx) => {
  const answer = await ctx.waitpoint('answer')
  await ctx.step('mail', async () => {
    marks.waitpoint = { waitpointId: answer.waitpointId, token: await answer.token() }
  })
  marks.waitedAt ||= performance.now()
  await ctx.waitFor(answer)
  marks.resumedAt = performance.now()
  marks.resumed()
})

const statements = countStatements()

await serve<DurableTrips, Answering>(async (input) => {
  const { url, count } = input as DurableTripInput
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(table)
  const ff = await connect(url)
  const worker = ff.worker({
    tasks: [askByName, askByToken],
    middleware: [
      async (_ctx, next) => {
        try {
          return await next()
        } catch (error) {
          if (error instanceof RunLeft) marks.suspended()
          throw error
        }
      },
    ],
  })
  await worker.start()
  for (const answering of ['name', 'token'] as const) await measure(client, ff, warmUpCount, answering)
  return {
    obey: (answering) => measure(client, ff, count, answering),
    async close() {
      await ff.close()
      await client.end()
    },
  }
})

async function measure(client: pg.Client, ff: FlowFabric, count: number, answering: Answering): Promise<DurableTrips> {
  const commitMs: number[] = []
  const tripMs: number[] = []
  const used = { statements: 0, postgresMs: 0, nodeMs: 0 }
  const pids = await backendsOf(client)
  for (let done = 0; done < count; done++) {
    const startedAt = performance.now()
    await client.query({ ...insert, values: [payload] })
    commitMs.push(performance.now() - startedAt)
    const before = { statements: statements.count, postgresMs: processorMs(pids), node: process.cpuUsage() }
    await live(ff, answering)
    const node = process.cpuUsage(before.node)
    used.statements += statements.count - before.statements
    used.postgresMs += processorMs(pids) - before.postgresMs
    used.nodeMs += (node.user + node.system) / 1000
    tripMs.push(marks.resumedAt - marks.waitedAt)
  }
  return {
    commitMs,
    tripMs,
    statements: used.statements / count,
    postgresMs: used.postgresMs / count,
    nodeMs: used.nodeMs / count,
  }
}

/** One execution from its submission to its end. */
async function live(ff: FlowFabric, answering: Answering): Promise<void> {
  marks.waitedAt = 0
  const suspended = new Promise<void>((resolve) => (marks.suspended = resolve))
  const resumed = new Promise<void>((resolve) => (marks.resumed = resolve))
  const run = await ff.submit(answering === 'name' ? askByName : askByToken)
  await suspended
  if (answering === 'name') await run.signal('answer', 'yes')
  else await ff.engine.signals.deliver({ ...marks.waitpoint!, name: 'yes' })
  // Waiting for the result polls; its statements would compete with the measured ones.
  await resumed
  await run.result()
}

/** Statements of executions, not those of duties and of workers that register. */
function countStatements(): { count: number } {
  const counted = { count: 0 }
  const wire = pg.Connection.prototype as unknown as {
    bind: (this: pg.Connection, config: { statement?: string }) => void
  }
  const { bind } = wire
  wire.bind = function (config) {
    if (/^(?:execution|suspension|signal|step|waitpoint|fence|attempt)\b/.test(config.statement ?? '')) {
      counted.count += 1
    }
    return bind.call(this, config)
  }
  return counted
}

async function backendsOf(client: pg.Client): Promise<number[]> {
  const others = `select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
  const { rows } = await client.query<{ pid: number }>(others)
  return rows.map(({ pid }) => pid)
}

/** Of the backends, as Linux counts it; zero on other systems. */
function processorMs(pids: readonly number[]): number {
  if (process.platform !== 'linux') return 0
  return pids.reduce((sum, pid) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0)
}
