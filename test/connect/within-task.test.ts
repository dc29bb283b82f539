// Tasks and values inside a transaction of the caller.
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { task } from '../../src/worker/task.ts'
import { createDatabase } from '../support/database.ts'
import { refusal } from '../support/refusal.ts'
import { text } from '../worker/schemas.ts'

const ship = task('ship', async (ctx, { order }: { order: number }) => {
  const { by } = (await ctx.waitFor('paid')) as { by: string }
  return `order ${order}, paid by ${by}`
})

const listen = task('listen', { signals: { word: text } }, (ctx) => ctx.waitFor('word'))

test('a task with its typed input, and a signal to its run, take effect with the commit', async () => {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  const ff = await connect(database.url)
  const client = new pg.Client(database.url)
  await client.connect()
  onTestFinished(async () => {
    await ff.close()
    await client.end()
    await database.drop()
  })
  const { executions, signals } = ff.engine

  await client.query('begin')
  const undone = await ff.within(client).submit(ship, { order: 6 })
  await client.query('rollback')
  await refusal('execution_not_found', undone.state())

  await client.query('begin')
  const run = await ff.within(client).submit(ship, { order: 7 }, { priority: 5 })
  expect(await executions.describe(run.id)).toBeNull()
  await client.query('commit')
  expect(await executions.describe(run.id)).toMatchObject({ kind: 'ship', priority: 5, publicState: 'waiting' })

  await client.query('begin')
  await ff.within(client).signal(run, 'paid', { by: 'ada' })
  expect((await signals.list(run.id)).signals).toEqual([])
  await client.query('commit')
  await ff.worker({ tasks: [ship], handleSignals: false }).start()
  expect(await run.result()).toBe('order 7, paid by ada')

  await client.query('begin')
  // @ts-expect-error a wrong input
  await ff.within(client).submit(ship, { order: 'eight' })
  const listening = await ff.within(client).submit(listen)
  // @ts-expect-error a wrong payload
  const refused = await refusal('invalid_input', ff.within(client).signal(listening, 'word', 9))
  expect(refused.message).toBe('the signal "word" is refused by its schema: expected a text')
  await client.query('rollback')
})
