import { expect, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { startChild } from '../support/child.ts'
import { emptyDatabase, open } from './empty-database.ts'

test('when a process with two workers gets a signal, the last one that has stopped ends it', async () => {
  const url = await emptyDatabase()
  await (await connect(url)).close()
  const child = startChild(new URL('../worker/two-workers.child.ts', import.meta.url), { args: [url] })
  expect(await child.next()).toBe('runs')
  process.kill(child.pid, 'SIGTERM')
  expect(await child.ended).toBe('SIGTERM')
  const ff = await open(url)
  expect(await ff.engine.executions.countByState()).toMatchObject({ completed: { count: 1 }, active: { count: 0 } })
})
