// An order and the execution that ships it are committed together, or not at all. It needs Postgres: set
// FLOWFABRIC_URL.
import { connect, task } from 'flowfabric'
import pg from 'pg'

const ship = task('ship', async (ctx, { order }: { order: number }) => {
  await ctx.waitFor('paid')
  return ctx.step('send', () => `order ${order} is on its way`)
})

const url = process.env.FLOWFABRIC_URL ?? 'postgres://localhost/postgres'
const ff = await connect(url)
await ff.worker({ tasks: [ship] }).start()
const client = new pg.Client(url)
await client.connect()
await client.query('create temporary table orders (id int primary key)')

await client.query('begin')
await client.query('insert into orders (id) values ($1)', [7])
const run = await ff.within(client).submit(ship, { order: 7 })
await ff.within(client).signal(run, 'paid')
await client.query('commit') // before this no process sees the order, and no worker the execution

console.log(await run.result())
await client.end()
await ff.close()
