import { expect, test } from 'vitest'
import { parseExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import { engines, secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { moveLog, logBlocksOf } from '../support/event-log.ts'

const firstEnd = 10_000_001

test('engines that reach the end of a block at once create one block and all succeed', async () => {
  const { sql, url } = await setup()
  const all = await engines(url, 4)
  const given = factory(sql)
  const ids = await Promise.all(all.map(() => given.waiting()))
  await moveLog(sql, firstEnd)
  const held = await hold(url, stored.executions.lockingTable('share'))
  const cancels = all.map((engine, index) => engine.executions.cancel({ executionId: ids[index]! }))
  await held.waiters(4)
  await held.release()
  const answers = await Promise.all(cancels)
  expect(answers.every((answer) => answer.kind === 'cancelled')).toBe(true)
  expect(await logBlocksOf(sql)).toHaveLength(2)
  expect(await stored.events.count(sql, `event_id >= ${firstEnd}`)).toBe(4)
})

test('a cancel that waited for a locked row and then finds no block creates it and succeeds', async () => {
  const { engine, sql, url } = await setup()
  const executionId = await factory(sql).waiting()
  const { uuid } = parseExecutionId(executionId)
  const held = await hold(url, stored.executions.changing({ retry_count: 1 }, 'execution_id = $1'), [uuid])
  const cancel = engine.executions.cancel({ executionId })
  await held.waiters(1)
  await moveLog(sql, firstEnd)
  await held.release()
  expect(await cancel).toMatchObject({ kind: 'cancelled' })
  expect(await logBlocksOf(sql)).toHaveLength(2)
})

test('the new block has the key and index of the log', async () => {
  const { sql, url } = await setup()
  const engine = await secondEngine(url)
  await moveLog(sql, firstEnd)
  await engine.executions.cancel({ executionId: await factory(sql).waiting() })
  const indexes = `
    select replace(indexdef, 'ff_event_10000001', 'ff_event_1') as definition from pg_indexes where tablename = $`
  const of = async (table: string) =>
    (await rows(sql, indexes.replace('$', `'${table}'`))).map((row) => row['definition'] as string).toSorted()
  expect(await of('ff_event_10000001')).toEqual(await of('ff_event_1'))
})
