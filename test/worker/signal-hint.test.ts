import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { fields } from './schemas.ts'
import { working } from './working.ts'

test('the error for a misspelt signal has a hint: from the wait, and before the wait from the declared signals', async () => {
  const ask = task('ask', { signals: { approval: fields<{ ok: boolean }>(['ok']) } }, async (ctx) =>
    ctx.waitFor('approval'),
  )
  const { submit, worker } = await working([ask])
  const run = await submit(ask)
  const before = await run.signal('aproval' as 'approval', { ok: true })
  expect(before.hint).toBe('the task declares the signals "approval", not "aproval"; did you mean approval?')
  await worker.tick()
  const after = await run.signal('aproval' as 'approval', { ok: true })
  expect(after.hint).toBe('the execution waits for "approval", not "aproval"; did you mean approval?')
  expect(await run.signal('approval', { ok: true })).not.toHaveProperty('hint')
})
