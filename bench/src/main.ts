// npm run bench [-- <scenario>... rounds=3 rows=1000000]
// Measures FlowFabric against raw Postgres and its peers on a Postgres of its own, prints ratios with their bars, and
// keeps figures and plots in results/. A scenario is chosen by its name or by the beginning of it.
import { chooseNode } from './choose-node.ts'
import { compile, compilePeers } from './compile.ts'
import { installPeers } from './install-peers.ts'
import { describeMachine, machineLine } from './machine.ts'
import { writePage } from './report/page.ts'
import { printReport } from './report/print.ts'
import { readReports, saveReport } from './report/save.ts'
import { claimBacklog } from './scenarios/claim-backlog.ts'
import { claimHeld } from './scenarios/claim-held.ts'
import { claimRace } from './scenarios/claim-race.ts'
import { createBatch } from './scenarios/create-batch.ts'
import { createOne } from './scenarios/create-one.ts'
import { drainEmbedded } from './scenarios/drain-embedded.ts'
import { drainHttp } from './scenarios/drain-http.ts'
import { drain } from './scenarios/drain.ts'
import { embeddedStart } from './scenarios/embedded-start.ts'
import { flowChains } from './scenarios/flow-chains.ts'
import { flowFan } from './scenarios/flow-fan.ts'
import { flowHop } from './scenarios/flow-hop.ts'
import { flowSets } from './scenarios/flow-sets.ts'
import { history } from './scenarios/history.ts'
import { idle } from './scenarios/idle.ts'
import { killedDuties } from './scenarios/killed-duties.ts'
import { largeBodies } from './scenarios/large-bodies.ts'
import { latency } from './scenarios/latency.ts'
import { lists } from './scenarios/lists.ts'
import { lostClaim } from './scenarios/lost-claim.ts'
import { memory } from './scenarios/memory.ts'
import { serverLoad } from './scenarios/server-load.ts'
import { silence } from './scenarios/silence.ts'
import { size } from './scenarios/size.ts'
import { sleeping } from './scenarios/sleeping.ts'
import { soak } from './scenarios/soak.ts'
import { suspendLatency } from './scenarios/suspend-latency.ts'
import { suspend } from './scenarios/suspend.ts'
import { sustained } from './scenarios/sustained.ts'
import { threeSteps } from './scenarios/three-steps.ts'
import { workers } from './scenarios/workers.ts'
import type { Bench, Scenario, Settings } from './scenario.ts'
import { openStores } from './stores.ts'

const scenarios: readonly Scenario[] = [
  drain,
  drainEmbedded,
  embeddedStart,
  drainHttp,
  workers,
  threeSteps,
  history,
  sleeping,
  createOne,
  createBatch,
  latency,
  sustained,
  soak,
  suspendLatency,
  suspend,
  flowChains,
  flowFan,
  flowHop,
  flowSets,
  claimBacklog,
  claimHeld,
  claimRace,
  lostClaim,
  size,
  memory,
  silence,
  idle,
  killedDuties,
  serverLoad,
  largeBodies,
  lists,
]

const words = process.argv.slice(2)
const chosen = choose(words.filter((word) => !word.includes('=')))
const settings: Settings = {
  rounds: setting('rounds', 3, 1),
  rows: setting('rows', 1_000_000, 200_000),
  seconds: setting('seconds', 250, 50),
  only: words.filter((word) => word.startsWith('only=')).flatMap((word) => word.slice(5).split(',')),
}

await compile()
if (chosen.some(({ hasPeers }) => hasPeers === true)) {
  await installPeers()
  await compilePeers()
}
const node = await chooseNode()
const stores = await openStores(node)
try {
  const machine = await describeMachine(node, stores)
  console.log(machineLine(machine))
  for (const scenario of chosen) {
    console.log(`\n${scenario.title}`)
    const bench: Bench = {
      stores,
      server: stores.server,
      settings,
      node,
      takesPart: (name) => stores.isPresent(name) && isAskedFor(name),
      say: (line) => console.log(`  ${line}`),
    }
    const report = await scenario.run(bench)
    printReport(report)
    await saveReport(report, machine, settings)
    await writePage(await readReports(scenarios.map(({ name }) => name)))
  }
} finally {
  await stores.stop()
}

function choose(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return scenarios
  const wanted = new Set(names.flatMap(named))
  return scenarios.filter((scenario) => wanted.has(scenario))
}

function named(word: string): readonly Scenario[] {
  const exact = scenarios.filter(({ name }) => name === word)
  const found = exact.length > 0 ? exact : scenarios.filter(({ name }) => name.startsWith(word))
  if (found.length > 0) return found
  throw new Error(`there is no scenario '${word}'; known are ${scenarios.map(({ name }) => name).join(', ')}`)
}

function isAskedFor(name: string): boolean {
  if (settings.only.length === 0 || name.startsWith('raw') || name.startsWith('FlowFabric')) return true
  return settings.only.some((beginning) => name.toLowerCase().startsWith(beginning.toLowerCase()))
}

function setting(name: string, normal: number, least: number): number {
  const given = words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  if (given === undefined) return normal
  const value = Number(given)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new Error(`${name} is '${given}'; it must be a whole number of at least ${least}`)
}
