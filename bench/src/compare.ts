// npm run bench:compare -- <other checkout> [<load>...] [rounds=5]
// Compares this checkout with another one, load by load, in turns on one Postgres: wall time, processor time of Node and of
// Postgres, and write-ahead log, each for one execution. A ratio below 1 says that this checkout needs less.
import path from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { chooseNode } from './choose-node.ts'
import { compile } from './compile.ts'
import { startChild } from './child.ts'
import type { Lap, LoadInput, LoadName } from './compare/load.child.ts'
import { median } from './median.ts'
import { startServer } from './server.ts'
import { serverProcessorMs } from './compare/server-usage.ts'

const loadNames: readonly LoadName[] = [
  'drain',
  'submit',
  'submitMany',
  'steps',
  'waits',
  'chains',
  'fan',
  'retries',
  'sleeps',
  'latency',
]

interface Cost {
  readonly wallUs: number
  readonly nodeUs: number
  readonly postgresUs: number
  readonly logBytes: number
}

const [other, ...words] = process.argv.slice(2)
if (other === undefined) throw new Error('name the folder of the other checkout')
const rounds = Number(words.find((word) => word.startsWith('rounds='))?.slice('rounds='.length) ?? 5)
const chosen = loadNames.filter((name) => words.includes(name))
const here = fileURLToPath(new URL('../../', import.meta.url))
const builds = { here: path.join(here, 'dist'), other: path.join(path.resolve(other), 'dist') }

for (const folder of [here, path.resolve(other)]) await promisify(execFile)('npm', ['run', 'build'], { cwd: folder })
await compile()
const node = await chooseNode()
const server = await startServer()
try {
  console.log('per execution: wall / Node / Postgres / both in microseconds of processor time, log in bytes')
  for (const load of chosen.length === 0 ? loadNames : chosen) await compare(load)
} finally {
  await server.stop()
}

async function compare(load: LoadName): Promise<void> {
  const costs: Record<keyof typeof builds, Cost[]> = { here: [], other: [] }
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['here', 'other'] as const) : (['other', 'here'] as const)
    for (const build of order) costs[build].push(await measure(load, builds[build]))
  }
  const row = (build: keyof typeof builds) => {
    const middle = (of: (cost: Cost) => number) => median(costs[build].map(of))
    const both = middle(({ nodeUs, postgresUs }) => nodeUs + postgresUs)
    return [
      middle((c) => c.wallUs),
      middle((c) => c.nodeUs),
      middle((c) => c.postgresUs),
      both,
      middle((c) => c.logBytes),
    ]
  }
  const [mine, theirs] = [row('here'), row('other')]
  const print = (name: string, numbers: readonly number[], digits: number) =>
    console.log(`${name.padEnd(22)}${numbers.map((number) => number.toFixed(digits).padStart(10)).join('')}`)
  print(`${load}, here`, mine, 1)
  print(`${load}, other`, theirs, 1)
  print(
    'ratio',
    mine.map((number, index) => number / theirs[index]!),
    3,
  )
}

async function measure(load: LoadName, dist: string): Promise<Cost> {
  const database = await server.createDatabase()
  const input: LoadInput = { url: database.url, dist, load }
  const child = await startChild<Lap>(node, new URL('compare/load.child.ts', import.meta.url), input)
  await server.checkpoint()
  const before = await usage()
  const { count, ms, processorMs } = await child.tell('go')
  const after = await usage()
  await child.end()
  await database.drop()
  return {
    wallUs: (ms * 1000) / count,
    nodeUs: (processorMs * 1000) / count,
    postgresUs: ((after.processorMs - before.processorMs) * 1000) / count,
    logBytes: (after.logBytes - before.logBytes) / count,
  }
}

async function usage(): Promise<{ readonly processorMs: number; readonly logBytes: number }> {
  return { processorMs: await serverProcessorMs(server), logBytes: await server.logPosition() }
}
