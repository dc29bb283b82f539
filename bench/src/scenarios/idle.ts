// The cost of idle worker processes: transactions, and processor time of Postgres and of Node. The server's own
// transactions in the database are measured after a worker has left it, and subtracted.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startChild, type Child } from '../child.ts'
import { readUsage, usageBetween } from '../idle/backends.ts'
import type { WorkerInput, WorkerOutput } from '../idle/worker.child.ts'
import type { Bar, Bench, Scenario } from '../scenario.ts'
import { rowOf, type Turn } from '../turn.ts'

const workerCounts = [1, 4, 12]
const budgetPerSecond = 3
const budget = `${budgetPerSecond} transactions a second`
const bar: Bar = { direction: 'at most', must: 1, aim: 0.7 }
// The first seconds belong to the start. An idle backend reports its transactions after 10 s at the latest, so a
// shorter wait would count those of the start. Then long enough to include what happens once a minute.
const settlingMs = 15_000
const measuredMs = 60_000
const withoutWorker = 'no worker'

const file = new URL('../idle/worker.child.ts', import.meta.url)

export const idle: Scenario = {
  name: 'idle',
  title: 'transactions a second of worker processes on an empty database, at default settings',
  async run(bench) {
    const turns = new Map<string, Turn[]>(
      [budget, withoutWorker, ...workerCounts.map(labelOf)].map((label) => [label, []]),
    )
    const notes: string[] = []
    for (let round = 1; round <= bench.settings.rounds; round++) {
      bench.say(`round ${round}`)
      turns.get(budget)!.push({ round, value: budgetPerSecond, probeValue: budgetPerSecond })
      const own = await measureLeft(bench)
      turns.get(withoutWorker)!.push({ round, value: own, probeValue: budgetPerSecond })
      notes.push(`round ${round}, ${withoutWorker}: ${own.toFixed(2)} transactions/s of the server's own`)
      bench.say(notes.at(-1)!)
      for (const count of workerCounts) {
        const { perSecond, note } = await measure(bench, count)
        const ofWorkers = Math.max(0, perSecond - own)
        turns.get(labelOf(count))!.push({ round, value: ofWorkers, probeValue: budgetPerSecond })
        notes.push(
          `round ${round}, ${labelOf(count)}: ${note}; the workers' part ${ofWorkers.toFixed(2)} transactions/s`,
        )
        bench.say(notes.at(-1)!)
      }
      notes.push(`round ${round}, 1 embedded worker: ${await measureEmbedded(bench)}`)
      bench.say(notes.at(-1)!)
    }
    return {
      name: this.name,
      title: this.title,
      unit: '/s',
      baseline: budget,
      rows: [
        rowOf(turns, withoutWorker, []),
        ...workerCounts.map((count) => rowOf(turns, labelOf(count), [{ to: budget, ...(count === 1 && { bar }) }])),
      ],
      notes: [
        `the rows of workers, and so the bar, are without the server's own transactions, which '${withoutWorker}' shows`,
        'processor time in per cent of a core: of all backends of the database, and of all worker processes',
        ...notes,
      ],
    }
  },
}

function labelOf(count: number): string {
  return `${count} idle ${count === 1 ? 'worker' : 'workers'}`
}

/** Transactions a second in a database that a worker has used and left. */
async function measureLeft(bench: Bench): Promise<number> {
  const database = await bench.server.createDatabase()
  const name = new URL(database.url).pathname.slice(1)
  const admin = await connectElsewhere(database.url)
  const input: WorkerInput = { url: database.url }
  const worker = await startChild<WorkerOutput>(bench.node, file, input)
  await sleep(settlingMs)
  await worker.end()
  await sleep(settlingMs)
  const before = await readUsage(admin, name)
  await sleep(measuredMs)
  const { transactionCount } = usageBetween(before, await readUsage(admin, name))
  await admin.end()
  await database.drop()
  return (transactionCount * 1000) / measuredMs
}

async function measure(bench: Bench, count: number): Promise<{ perSecond: number; note: string }> {
  const database = await bench.server.createDatabase()
  const name = new URL(database.url).pathname.slice(1)
  const admin = await connectElsewhere(database.url)
  const input: WorkerInput = { url: database.url }
  const workers: Child<WorkerOutput, 'go'>[] = []
  for (let index = 0; index < count; index++) workers.push(await startChild<WorkerOutput>(bench.node, file, input))
  const nodeMs = async (): Promise<number> => {
    const outputs = await Promise.all(workers.map((worker) => worker.tell('go')))
    return outputs.reduce((sum, { processorMs }) => sum + processorMs, 0)
  }
  await sleep(settlingMs)
  const [before, nodeBefore] = [await readUsage(admin, name), await nodeMs()]
  await sleep(measuredMs)
  const [after, nodeAfter] = [await readUsage(admin, name), await nodeMs()]
  for (const worker of workers) await worker.end()
  await admin.end()
  await database.drop()
  const { transactionCount, processorMs } = usageBetween(before, after)
  const perSecond = (transactionCount * 1000) / measuredMs
  const note = `${perSecond.toFixed(2)} transactions/s, Postgres ${share(processorMs)}, Node ${share(nodeAfter - nodeBefore)}`
  return { perSecond, note }
}

async function measureEmbedded(bench: Bench): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flowfabric-idle-'))
  const input: WorkerInput = { url: `file:${join(folder, 'data')}` }
  const worker = await startChild<WorkerOutput>(bench.node, file, input)
  await sleep(settlingMs)
  const before = await worker.tell('go')
  await sleep(measuredMs)
  const after = await worker.tell('go')
  await worker.end()
  await rm(folder, { recursive: true })
  return `Node with its database ${share(after.processorMs - before.processorMs)}`
}

async function connectElsewhere(url: string): Promise<pg.Client> {
  const other = new URL(url)
  other.pathname = '/postgres'
  const client = new pg.Client({ connectionString: other.href })
  await client.connect()
  return client
}

function share(processorMs: number): string {
  return `${((processorMs * 100) / measuredMs).toFixed(2)} %`
}
