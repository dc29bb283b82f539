// The schema that connect creates, checks or ignores, under any name.
import { expect, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { refusal } from '../support/refusal.ts'
import { emptyDatabase, open, run } from './empty-database.ts'

test("migrate 'check' refuses an empty database and writes nothing; after a migration it starts", async () => {
  const url = await emptyDatabase()
  const error = await refusal('schema_missing', connect(url, { migrate: 'check' }))
  expect(error.message).toContain('migrate: true')
  expect((await run(url, `select from pg_namespace where nspname = 'flowfabric'`))[0]!.rowCount).toBe(0)
  await open(url)
  const checked = await open(url, { migrate: 'check' })
  expect(await checked.engine.executions.create({ kind: 'k' })).toMatchObject({ kind: 'created' })
})

test('with migrate false connect sends no check, and the first use reports that the schema is missing', async () => {
  const url = await emptyDatabase()
  const ff = await open(url, { migrate: false })
  const error = await refusal('schema_missing', ff.engine.executions.create({ kind: 'k' }))
  expect(error.details).toMatchObject({ sqlState: '42P01' })
  expect((await run(url, `select from pg_namespace where nspname = 'flowfabric'`))[0]!.rowCount).toBe(0)
})

test.each(['Odd "name" with \'quotes\' and $1', 'flowfabric.ff', 'ünï', 'Flowfabric', 'select'])(
  'everything works in a schema named %s',
  async (schema) => {
    const url = await emptyDatabase()
    const { engine } = await open(url, { schema })
    const { executionId } = await engine.executions.create({ kind: 'k', tags: { a: 'b' }, idempotencyKey: 'x' })
    // The end of the log's first block, so that a table is created under the odd name too.
    await run(
      url,
      `select setval(format('%I.ff_event_id', nspname), 10000000) from pg_namespace where nspname = $$${schema}$$`,
    )
    expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
    expect((await engine.executions.list({ tag: { key: 'a', value: 'b' } })).executions).toHaveLength(1)
    expect((await engine.executions.countByState()).cancelled.count).toBe(1)
    const [made] = await run(
      url,
      `select distinct nspname from pg_class c join pg_namespace n on n.oid = relnamespace where relname like 'ff\\_%'`,
    )
    expect(made!.rows).toEqual([{ nspname: schema }])
  },
)

test('two schemas of one database are separate', async () => {
  const url = await emptyDatabase()
  const [a, b] = [await open(url, { schema: 'a' }), await open(url, { schema: 'b' })]
  await a.engine.executions.create({ kind: 'k' })
  expect((await b.engine.executions.list()).executions).toEqual([])
})
