import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createBarrier, hold } from './barrier.ts'
import { createDatabase } from './database.ts'

async function connections(url: string, count: number): Promise<pg.Client[]> {
  const clients = Array.from({ length: count }, () => new pg.Client(url))
  await Promise.all(clients.map((client) => client.connect()))
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))))
  return clients
}

async function emptyDatabase(): Promise<string> {
  const database = await createDatabase(inject('postgres').url)
  onTestFinished(() => database.drop())
  return database.url
}

test('no connection passes a barrier before the last one has arrived', async () => {
  const url = await emptyDatabase()
  const barrier = await createBarrier(url)
  const clients = await connections(url, 5)
  let passed = 0
  const runs = clients.map(async (client) => {
    await client.query('begin')
    await client.query(barrier.gate)
    passed += 1
  })
  await expect(barrier.open(6, 1500)).rejects.toThrow('6 connections were expected to wait for the lock; 5 did')
  expect(passed).toBe(0)
  await barrier.open(5)
  await Promise.all(runs)
  expect(passed).toBe(5)
})

test('all waiters for one row are counted, also those behind another waiter', async () => {
  const url = await emptyDatabase()
  const [setter, ...clients] = await connections(url, 4)
  await setter!.query('create table counter (value int); insert into counter values (0)')
  const held = await hold(url, 'select value from counter for update')
  const updates = clients.map((client) => client.query('update counter set value = value + 1'))
  await held.waiters(3)
  await held.release()
  await Promise.all(updates)
  const { rows } = await setter!.query('select value from counter')
  expect(rows).toEqual([{ value: 3 }])
})
