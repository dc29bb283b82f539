// A database that answers, and cannot do the work now: the caller may retry, and a worker does.
import { expect, test } from 'vitest'
import { asConnectError } from '../../src/connect/connect-error.ts'
import { asEngineError } from '../../src/engine/kernel/failure.ts'
import { connectFailure } from '../../src/sql/postgres-failure.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'
import { emptyDatabase, open, run } from './empty-database.ts'
import * as stored from '../support/stored.ts'

test('a database that has become read-only, or cancels a statement, has a retryable error', async () => {
  const url = await emptyDatabase()
  const first = await open(url)
  const { executionId } = await first.engine.executions.create({ kind: 'k' })
  const database = new URL(url).pathname.slice(1)
  await run(url, `alter database "${database}" set default_transaction_read_only = on`)
  const standby = await open(url, { migrate: false })
  const error = await refusal('database_unavailable', standby.engine.executions.cancel({ executionId }))
  expect(error).toMatchObject({ retryable: true, details: { sqlState: '25006' } })
  expect(error.message).toContain(
    'the database cannot run the statement now, because it is read-only, as after a failover',
  )
  await run(
    url,
    'set default_transaction_read_only = off',
    `alter database "${database}" reset default_transaction_read_only`,
  ).catch(() => {})
  await hold(url, stored.executions.lockingTable('access exclusive'))
  await run(url, `set default_transaction_read_only = off; alter database "${database}" set statement_timeout = 200`)
  const hasty = await open(url, { migrate: false })
  const cancelled = await refusal('database_unavailable', hasty.engine.executions.describe(executionId))
  expect(cancelled).toMatchObject({ retryable: true, details: { sqlState: '57014' } })
})

test.each([
  ['53100', 'its disk is full'],
  ['53200', 'it is out of memory'],
  ['53300', 'it has too many connections'],
  ['53400', 'it has exhausted a resource'],
])('%s says that %s', (code, why) => {
  const refused = Object.assign(new Error('no more'), { code, severity: 'ERROR' })
  const error = asEngineError(refused)
  expect(error).toMatchObject({ code: 'database_unavailable', status: 503, retryable: true })
  expect(error.message).toBe(`the database cannot run the statement now, because ${why}: no more; try again`)
})

function answer(code: string): Error {
  return Object.assign(new Error('no more'), { code, severity: 'FATAL' })
}

test.each(['57P01', '57P02', '57P03'])('a connect during a restart (%s) is database_unreachable', (code) => {
  for (const failure of [answer(code), connectFailure(answer(code), 'postgres://host/database')]) {
    expect(asConnectError(failure)).toMatchObject({ code: 'database_unreachable', retryable: true })
  }
})

test('a connect that a transaction_timeout ends names the setting', async () => {
  expect(asConnectError(answer('25P04')).message).toContain('alter role ... set transaction_timeout = 0')
})
