// The channel of hints is named after the schema, whose name may be as long as a channel's may be.
import { expect, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { blankDatabase } from './fixture.ts'

test.each(['ü'.repeat(27), 's'.repeat(63)])('creating work sends a hint in schema %s', async (schema) => {
  const { url } = await blankDatabase()
  const [maker, taker] = await Promise.all([connect(url, { schema }), connect(url, { schema })])
  try {
    const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
    const taken = taker.engine.executions.claim({ ...worker, wait: '1m' })
    const { executionId } = await maker.engine.executions.create({ kind: 'k' })
    expect((await taken).claims).toMatchObject([{ executionId }])
  } finally {
    await Promise.all([maker.close(), taker.close()])
  }
})
