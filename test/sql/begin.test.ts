// A transaction that the server did not begin, because another session cancelled exactly that statement: nothing of it
// may happen.
import { expect, test } from 'vitest'
import { call, type Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { blankDatabase } from './fixture.ts'
import { startRefusingProxy } from './refusing-proxy.ts'

const INSERT = statement({
  name: 'test.insert_begun',
  params: { id: 'int4' },
  row: { id: 'int4' },
  text: 'insert into begun values ($1) returning id',
})
const SETTING = statement({
  name: 'test.setting_begun',
  params: { name: 'text' },
  row: { value: 'text' },
  text: 'select current_setting($1) as value',
})
const ALL = statement({ name: 'test.all_begun', params: {}, row: { id: 'int4' }, text: 'select id from begun' })

const ways: readonly [string, (sql: Sql) => Promise<unknown>][] = [
  ['a pipeline', (sql) => sql.pipeline([call(INSERT, { id: 1 }), call(INSERT, { id: 2 })])],
  ['a pipeline with a limit', (sql) => sql.pipeline([call(INSERT, { id: 1 })], { lockTimeoutMs: 100 })],
  ['a decision', (sql) => sql.decide([call(INSERT, { id: 1 })], () => [call(INSERT, { id: 2 })])],
  ['a transaction', (sql) => sql.transaction(async (tx) => tx.query(INSERT, { id: 1 }))],
  [
    'a transaction of statements sent together',
    (sql) => sql.transaction(async (tx) => Promise.allSettled([1, 2, 3].map((id) => tx.query(INSERT, { id })))),
  ],
  ['a transaction of a script', (sql) => sql.transaction((tx) => tx.script('insert into begun values (1)'))],
]

// A pooler does not keep the settings of the start.
const settled = 'idle_in_transaction_session_timeout=61s'
const dropped = 'idle_in_transaction_session_timeout=62s'

for (const where of ['to the server', 'to a pooler'] as const) {
  test.each(ways)(`${where}: %s without its begin leaves nothing behind, and the next one succeeds`, async (_, go) => {
    const database = await blankDatabase()
    const proxy = await startRefusingProxy(database.url)
    if (where === 'to a pooler') proxy.replace(settled, dropped)
    const sql = await database.open({ url: proxy.url, poolSize: 1 })
    await sql.script('create table begun (id int4)')
    // A call that ends with a sync needs no begin.
    proxy.replace('begin isolation', 'bogus isolation')
    const outcome = await go(sql).then(
      () => 'done',
      () => 'refused',
    )
    proxy.replace('x', 'x')
    const left = (await sql.query(ALL, {})).length
    if (outcome === 'refused') expect(left).toBe(0)
    await go(sql)
    expect((await sql.query(ALL, {})).length).toBeGreaterThan(left)
  })
}

test('behind a pooler every transaction has our settings and isolation, whatever those of the session are', async () => {
  const database = await blankDatabase()
  const proxy = await startRefusingProxy(database.url)
  proxy.replace(settled, dropped)
  const sql = await database.open({ url: proxy.url, poolSize: 1 })
  await sql.script('set jit = on; set enable_seqscan = on; set default_transaction_isolation = serializable')
  const names = ['jit', 'enable_seqscan', 'transaction_isolation', 'lock_timeout']
  const calls = names.map((name) => call(SETTING, { name }))
  const ours = [['off'], ['off'], ['read committed'], ['250ms']]
  const values = (rows: readonly (readonly { value: string }[])[]) => rows.map((one) => one.map(({ value }) => value))
  expect(values(await sql.pipeline(calls, { lockTimeoutMs: 250 }))).toEqual(ours)
  expect(values(await sql.decide([], () => calls, { lockTimeoutMs: 250 }))).toEqual(ours)
  const inside = await sql.transaction((tx) => Promise.all(names.map((name) => tx.query(SETTING, { name }))))
  expect(values(inside)).toEqual([...ours.slice(0, 3), ['0']])
})
