// Connections to Postgres that stay open and never reply again, as after a failover behind an address or a NAT that
// dropped them. A worker, a submitter and a subscriber lose all of theirs at once; new ones work. Each is timed until
// it works again. Every execution must end once, and every submit must have a reply.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, task } from '../../../src/index.ts'
import { startSwallowingProxy } from '../silence/proxy.ts'
import { rowOf, type Turn } from '../turn.ts'
import type { Bar, Bench, Scenario } from '../scenario.ts'

const budgetMs = 10_000
const budget = '10 s'
const bar: Bar = { direction: 'at most', must: 1 }
const names = ['submits', 'worker', 'subscription', 'result'] as const
type Name = (typeof names)[number]

const everyMs = 200
const before = 15
const after = 60

export const silence: Scenario = {
  name: 'silence',
  title: 'open connections that never answer again: how long until each caller works again',
  async run(bench) {
    const turns = new Map<string, Turn[]>([budget, ...names].map((name) => [name, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const times = await lose(bench)
      turns.get(budget)!.push({ round, value: budgetMs, probeValue: budgetMs })
      for (const name of names) turns.get(name)!.push({ round, value: times[name], probeValue: budgetMs })
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: budget,
      rows: names.map((name) => rowOf(turns, name, [{ to: budget, bar }])),
      notes: ['submits: the slowest answer of all; the others: the first sign of life after the silence began'],
    }
  },
}

async function lose(bench: Bench): Promise<Record<Name, number>> {
  const database = await bench.server.createDatabase()
  const proxy = await startSwallowingProxy(database.url)
  const warnings: string[] = []
  const warn = (line: string): void => void warnings.push(line)
  const logger = { debug() {}, info() {}, warn, error: warn }
  let silentAt = Infinity
  const firstAfter: Partial<Record<Name, number>> = {}
  const noteFirst = (name: Name): void => {
    if (performance.now() > silentAt) firstAfter[name] ??= performance.now() - silentAt
  }
  const runs = new Map<number, number>()
  const count = task('count', async (_ctx, { n }: { n: number }) => {
    noteFirst('worker')
    runs.set(n, (runs.get(n) ?? 0) + 1)
    return n
  })
  const [direct, working, client] = await Promise.all([
    connect(database.url),
    connect(proxy.url, { logger }),
    connect(proxy.url, { logger }),
  ])
  const worker = working.worker({ tasks: [count], concurrency: 10, leaseTtl: '5s' })
  await worker.start()
  const subscription = await client.engine.events.subscribe()
  const ended = new Map<string, number>()
  const following = (async () => {
    for await (const event of subscription) {
      noteFirst('subscription')
      if (event.kind !== 'truncated' && event.kind === 'ended')
        ended.set(event.executionId!, (ended.get(event.executionId!) ?? 0) + 1)
    }
  })()
  let slowestMs = 0
  const asked: Promise<unknown>[] = []
  for (let n = 0; n < before + after; n++) {
    if (n === before) {
      silentAt = performance.now()
      bench.say(`${proxy.silenceOpen()} connections fall silent`)
    }
    const at = performance.now()
    asked.push(
      client.submit(count, { n }).then(async (run) => {
        slowestMs = Math.max(slowestMs, performance.now() - at)
        await run.result({ timeout: '60s' })
        noteFirst('result')
      }),
      direct.submit(count, { n: 1000 + n }),
    )
    await sleep(everyMs)
  }
  const answers = await Promise.allSettled(asked)
  await refuseLoss(answers, ended, runs)
  bench.say(`${answers.length} calls answered, ${ended.size} executions ended once; logged: ${warnings.length} lines`)
  for (const line of new Set(warnings)) bench.say(line)
  await subscription.return()
  await following
  await worker.stop()
  await Promise.all([direct, working, client].map((ff) => ff.close()))
  proxy.close()
  await database.drop()
  return { submits: slowestMs, worker: Infinity, subscription: Infinity, result: Infinity, ...firstAfter }
}

async function refuseLoss(
  answers: readonly PromiseSettledResult<unknown>[],
  ended: ReadonlyMap<string, number>,
  runs: ReadonlyMap<number, number>,
): Promise<void> {
  const refused = answers.find((answer) => answer.status === 'rejected')
  if (refused !== undefined) throw new Error('a call was refused', { cause: refused.reason })
  const wanted = 2 * (before + after)
  for (let tries = 0; ended.size < wanted && tries < 600; tries++) await sleep(100)
  if (ended.size !== wanted) throw new Error(`${ended.size} of ${wanted} executions have ended`)
  if ([...ended.values()].some((times) => times !== 1)) throw new Error('an ending was reported twice')
  if (runs.size !== wanted) throw new Error(`${runs.size} of ${wanted} executions ran`)
}
