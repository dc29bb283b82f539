// While a transaction is open somewhere, rows that were deleted since cannot be cleaned up, and the head of every queue
// fills with dead entries. They must not slow down a claim.
import pg from 'pg'
import { compareClaims } from '../claim/claim-pair.ts'
import type { Scenario } from '../scenario.ts'
import { Traffic } from '../traffic/traffic.ts'

const lanes = ['default']

export const claimHeld: Scenario = {
  name: 'claim-held',
  title: 'claim of 50 after half a million went through while a transaction was held open, against one before',
  async run(bench) {
    const before = await bench.server.createDatabase()
    const traffic = await Traffic.open(bench, 'FlowFabric')
    const holder = await holdTransaction(traffic.url)
    const throughCount = Math.floor(bench.settings.rows / 2)
    bench.say(`${throughCount.toLocaleString('en')} executions go through`)
    await traffic.passThrough(throughCount)
    const baseline = 'before'
    const rows = await compareClaims(
      bench,
      { name: baseline, url: before.url, lanes, count: 1000 },
      { name: `after ${throughCount.toLocaleString('en')}`, url: traffic.url, lanes, count: 1000 },
    )
    await holder.end()
    await traffic.close()
    await before.drop()
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline,
      rows,
      notes: ['the claiming process took no part in the load; the worst claim reads the head of the queue'],
    }
  },
}

async function holdTransaction(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from flowfabric.ff_ready')
  return client
}
