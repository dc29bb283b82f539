// When other processes receive the hints of a caller's transaction.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { ff, nextOrder, prepareApplications, url, withPg, worker } from './applications.ts'

prepareApplications()

test('the commit wakes waiting workers, in this process and in others', async () => {
  const other = await connect(url)
  onTestFinished(() => other.close())
  for (const [who, lane] of [
    [ff, 'wake-1'],
    [other, 'wake-2'],
  ] as const) {
    await ff.engine.executions.create({ kind: 'k', lane })
    await who.engine.executions.claim({ ...worker, lanes: [lane] })
    const waiting = who.engine.executions.claim({ ...worker, lanes: [lane], wait: '1m' })
    await withPg.transaction(nextOrder(), (tx) => ff.within(tx).submit({ kind: 'k', lane }))
    expect((await waiting).claims).toHaveLength(1)
  }
})

test('the hint is part of the transaction: it arrives at the commit, and not after a rollback', async () => {
  const listener = new pg.Client(url)
  await listener.connect()
  onTestFinished(() => listener.end())
  const received: string[] = []
  listener.on('notification', ({ payload }) => received.push(payload ?? ''))
  await listener.query('listen "flowfabric flowfabric"')
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await ff.engine.executions.create({ kind: 'k', lane: 'hinted' })
  await expect.poll(() => received).toHaveLength(1)
  await client.query('begin')
  await ff.within(client).submit({ kind: 'k', lane: 'hinted' })
  await client.query('rollback')
  await client.query('begin')
  await ff.within(client).submit({ kind: 'k', lane: 'hinted' })
  // Its answer comes after every notification that was sent before.
  await listener.query('select 1')
  expect(received).toHaveLength(1)
  await client.query('commit')
  await expect.poll(() => received).toHaveLength(2)
  expect(received[1]).toBe(received[0])
})
