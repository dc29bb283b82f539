// The embedded database through `connect`: one process at a time, no loss by a kill, one notice.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { startChild } from '../support/child.ts'
import { refusal } from '../support/refusal.ts'

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'flowfabric-connect-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

test('executions are kept after a close; power loss and the creation of files are reported once', async () => {
  const directory = await newDirectory()
  const lines: string[] = []
  const note = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
  const first = await connect(`file:${directory}`, { logger })
  const { executionId } = await first.engine.executions.create({ kind: 'k' })
  await refusal('directory_locked', connect(`file:${directory}`))
  expect(() => first.within({})).toThrow('the embedded database has one connection, and no transactions of yours')
  await first.close()
  await first.close()
  await refusal('engine_closed', first.engine.executions.describe(executionId))

  const second = await connect(`file:${directory}`, { migrate: 'check', logger })
  expect(await second.engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting' })
  await second.close()
  expect(lines).toEqual([
    'warn Embedded database: data survives a crash but not a power loss. Use postgres:// in production.',
    `info creating the embedded database in ${directory}...`,
  ])
})

test('a directory that another process has open is refused, and after a kill no acknowledged write is lost', async () => {
  const directory = await newDirectory()
  const child = startChild(new URL('./creator.child.ts', import.meta.url), { args: [`file:${directory}`] })
  const answered: ExecutionId[] = []
  const next = async () => answered.push(((await child.next()) as { executionId: ExecutionId }).executionId)
  await next()
  const error = await refusal('directory_locked', connect(`file:${directory}`))
  expect(error.message).toContain(`process ${child.pid}`)
  while (answered.length < 50) await next()
  await child.kill('SIGKILL')

  const sql = await openEmbedded({ directory, schema: 'flowfabric' })
  const { executions } = createEngine(sql)
  for (const executionId of answered) {
    expect(await executions.describe(executionId)).toMatchObject({ publicState: 'waiting', tags: { a: 'b' } })
  }
  expect(await executions.create({ kind: 'k' })).toMatchObject({ kind: 'created' })
  expect(await checkInvariants(sql)).toEqual([])
  await sql.close()
})

test('a directory that cannot be created has an error of FlowFabric', async () => {
  const error = await refusal('database_error', connect('file:/dev/null/here'))
  expect(error.message).toContain('/dev/null')
})
