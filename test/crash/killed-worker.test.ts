import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { expectAllEnded, startLoad } from './load.ts'
import * as stored from '../support/stored.ts'

test('workers that are killed while they work lose nothing: their leases expire, and others finish the work', async () => {
  const { sql, url } = await setup()
  const survivor = startLoad(url, 'survivor')
  const killed = []
  const takenOver = async (): Promise<number> =>
    (await stored.leaseEvents.all(sql, { event_type: 'reclaimed', worker_instance_id: 'survivor' })).length
  // A victim may hold no execution: the loop continues until one held some.
  for (let count = 1; count <= 3 || (await takenOver()) === 0; count += 1) {
    const victim = startLoad(url, `victim-${count}`)
    await Promise.all([victim.completedMore(30), survivor.completedMore(10)])
    await victim.kill()
    killed.push(victim)
  }
  await survivor.finish()
  await expectAllEnded(sql, [survivor, ...killed])
  expect(await takenOver()).toBeGreaterThan(0)
})
