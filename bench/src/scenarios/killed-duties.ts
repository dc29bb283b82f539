// The process that runs the background duties is killed in the middle of a long run. How long until another process runs
// every duty, or has run it.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connect } from '../../../src/index.ts'
import { startChild } from '../child.ts'
import type { WorkerInput, WorkerOutput } from '../idle/worker.child.ts'
import { rangeOf } from '../median.ts'
import type { Bar, Bench, Scenario } from '../scenario.ts'
import { rowOf, type Turn } from '../turn.ts'

const budgetMs = 2000
const budget = 'two seconds'
const ours = 'every duty runs again'
const bar: Bar = { direction: 'at most', must: 1, aim: 0.8 }
const killsOfRound = 5
const delayedCount = 100_000

const file = new URL('../idle/worker.child.ts', import.meta.url)

export const killedDuties: Scenario = {
  name: 'killed-duties',
  title: 'from the kill of the process that runs the background duties until another process runs each of them',
  async run(bench) {
    const turns = new Map<string, Turn[]>([budget, ours].map((label) => [label, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const times: number[] = []
      for (let kill = 0; kill < killsOfRound; kill++) {
        const ms = await killOnce(bench)
        times.push(ms)
        turns.get(budget)!.push({ round, value: budgetMs, probeValue: budgetMs })
        turns.get(ours)!.push({ round, value: ms, probeValue: budgetMs })
      }
      bench.say(`round ${round}   ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')}`)
    }
    const [, worst] = rangeOf(turns.get(ours)!.map(({ value }) => value))
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: budget,
      rows: [rowOf(turns, ours, [{ to: budget, bar }])],
      notes: [
        `the longest of all: ${Math.round(worst)} ms`,
        'a second worker process is idle when the first is killed',
      ],
    }
  },
}

async function killOnce(bench: Bench): Promise<number> {
  const database = await bench.server.createDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const input: WorkerInput = { url: database.url }
  await prepare(database.url)
  const first = await startChild<WorkerOutput>(bench.node, file, input)
  const { pid } = await first.tell('go')
  const second = await startChild<WorkerOutput>(bench.node, file, input)
  const isRunning = `select from flowfabric.ff_duty where duty = 'delayed-promoter' and taken_by like '%:${pid}:%'`
  await client.query('update flowfabric.ff_exec_core set delay_until_ms = 1 where delay_until_ms is not null')
  await until(async () => (await client.query(isRunning)).rowCount === 1)
  process.kill(pid, 'SIGKILL')
  const killedAt = performance.now()
  // A duty without a report is due.
  await client.query(`update flowfabric.ff_duty set last_report = null where duty <> 'supervisor'`)
  const { pid: secondPid } = await second.tell('go')
  const undone = `
select
from flowfabric.ff_duty
where duty <> 'supervisor' and last_report is null and (taken_by like '%:${secondPid}:%') is not true`
  await until(async () => (await client.query(undone)).rowCount === 0)
  const ms = performance.now() - killedAt
  await second.end()
  await client.end()
  await database.drop()
  return ms
}

/** More delayed executions than one set of the duty promotes. */
async function prepare(url: string): Promise<void> {
  const ff = await connect(url)
  for (let count = 0; count < delayedCount; count += 500) {
    await ff.engine.executions.createMany(Array.from({ length: 500 }, () => ({ kind: 'other', delay: '1h' as const })))
  }
  await ff.close()
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(2)
}
