// The memory of a server for waiting clients: a thousand subscribers and five hundred claims, each on a connection of
// its own. Events that reach every one of them, and executions that the claims take, prove that they are connected.
import { setTimeout } from 'node:timers/promises'
import { connect } from '../../../src/index.ts'
import { startChild } from '../child.ts'
import type { Listened, ListenersInput } from '../http/listeners.child.ts'
import type { ServerSaid } from '../http/server.child.ts'
import type { Bench, Scenario } from '../scenario.ts'
import { rowOf, type Turn } from '../turn.ts'

const subscriberCount = 1000
const claimCount = 500
const endedCount = 100
const idle = 'a server, idle'
const waiting = `${subscriberCount} subscribers and ${claimCount} claims that wait`
const subscribed = `the same, after ${endedCount} events to each subscriber`

export const serverLoad: Scenario = {
  name: 'server-load',
  title: 'resident memory of a server with 1,000 subscribers and 500 waiting claims',
  async run(bench) {
    const turns = new Map<string, Turn[]>([idle, waiting, subscribed].map((label) => [label, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      const megabytes = await measure(bench)
      for (const [label, own] of turns) own.push({ round, value: megabytes[label]!, probeValue: megabytes[idle]! })
      bench.say(`round ${round}: ${[...turns.keys()].map((label) => `${Math.round(megabytes[label]!)} MB`).join(', ')}`)
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'MB',
      baseline: idle,
      rows: [rowOf(turns, idle, []), rowOf(turns, waiting, [{ to: idle }]), rowOf(turns, subscribed, [{ to: idle }])],
      notes: [
        'one connection for each subscriber and each claim; the listeners are a process of their own',
        `every subscriber heard all ${endedCount} endings, and ${claimCount} executions were claimed by those who waited`,
      ],
    }
  },
}

async function measure({ server, node }: Bench): Promise<Record<string, number>> {
  const database = await server.createDatabase()
  const served = await startChild<ServerSaid>(node, new URL('../http/server.child.ts', import.meta.url), database)
  const { url } = await served.tell('go')
  const ff = await connect(database.url)
  const residentMB = async (): Promise<number> => (await served.tell('go')).residentBytes / 1e6
  const before = await residentMB()
  const input: ListenersInput = { url, subscriberCount, claimCount }
  const listeners = await startChild<Listened>(node, new URL('../http/listeners.child.ts', import.meta.url), input)
  await setTimeout(3000)
  const during = await residentMB()
  for (let count = 0; count < endedCount; count += 1) {
    const { executionId } = await ff.engine.executions.create({ kind: 'k', lane: 'unclaimed' })
    await ff.engine.executions.cancel({ executionId })
  }
  await ff.engine.executions.createMany(Array.from({ length: claimCount }, () => ({ kind: 'k', lane: 'awaited' })))
  for (;;) {
    const { eventCount, claimedCount } = await listeners.tell('go')
    if (eventCount >= subscriberCount * endedCount && claimedCount >= claimCount) break
    await setTimeout(100)
  }
  const after = await residentMB()
  await listeners.end()
  await served.end()
  await ff.close()
  await database.drop()
  return { [idle]: before, [waiting]: during, [subscribed]: after }
}
