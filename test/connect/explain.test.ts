import { expect, inject, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import { createDatabase } from '../support/database.ts'

test('explain returns a sentence for an execution, and null for an unknown one', async () => {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  onTestFinished(() => database.drop())
  const ff = await connect(database.url)
  onTestFinished(() => ff.close())
  const { executionId } = await ff.engine.executions.create({ kind: 'k', lane: 'mail' })
  const explanation = await ff.explain(executionId)
  expect(explanation?.sentence).toMatch(
    /^Has been waiting for a worker since .*Z: no registered worker serves lane 'mail'\.$/,
  )
  expect(await ff.explain(mintExecutionId())).toBeNull()
})
