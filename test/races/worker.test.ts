import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { connect, task } from '../../src/index.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'

test('a locked row lets no other lease expire, with one connection for all work and one to listen', async () => {
  const { url } = await setup()
  const gates: (() => void)[] = []
  const gate = task('gate', { retry: { attempts: 1 } }, async (ctx) => {
    await new Promise<void>((resolve) => gates.push(resolve))
    await ctx.step('after', () => 1)
    return 'done'
  })
  const ff = await connect(`${url}?application_name=two`, { poolSize: 1 })
  onTestFinished(() => ff.close())
  const worker = ff.worker({ tasks: [gate], leaseTtl: 2400, duties: { intervals: { 'lease-expiry': 100 } } })
  const runs = await Promise.all(Array.from({ length: 5 }, () => ff.submit(gate)))
  await worker.start()
  await expect.poll(() => gates.length).toBe(5)

  const holder = new pg.Client(url)
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  const { uuid } = parseExecutionId(runs[0]!.id)
  await holder.query(stored.executions.lockingRows('update', 'execution_id = $1'), [uuid])
  // The first run cannot record its step, and its call waits for the lock on the one connection for work.
  gates[0]!()
  const renewals = async (): Promise<number> => {
    const { events } = await ff.engine.events.timeline(runs[4]!.id)
    return events.filter((event) => event.kind === 'renewed').length
  }
  await expect.poll(renewals).toBeGreaterThan(3)
  const { rowCount } = await holder.query(`select from pg_stat_activity where application_name = 'two'`)
  expect(rowCount).toBe(2)
  await holder.query('rollback')
  gates.forEach((open) => open())
  expect(await Promise.all(runs.slice(1).map((run) => run.result()))).toEqual(['done', 'done', 'done', 'done'])
  for (const run of runs.slice(1)) {
    const { events } = await ff.engine.events.timeline(run.id)
    expect(events.filter((event) => event.kind === 'lapsed')).toEqual([])
  }
  expect(await runs[0]!.result()).toBe('done')
})
