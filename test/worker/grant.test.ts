import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

test('SDK-04 a full worker ignores a grant, and so does a worker with free slots that the grant is not for', async () => {
  const gates: (() => void)[] = []
  const gate = task('gate', () => new Promise<string>((resolve) => gates.push(() => resolve('done'))))
  const { submit, worker, engine } = await working([gate], { concurrency: 1 })
  const first = await submit(gate)
  const ticking = worker.tick()
  await expect.poll(() => gates.length).toBe(1)
  const granted = await submit(gate)
  const other = { workerId: 'other', workerInstanceId: 'other-1' }
  const { grantId } = await engine.executions.grant({ executionId: granted.id, ...other })
  expect(worker.running).toBe(1)
  expect(await granted.state()).toBe('waiting')
  gates[0]!()
  await ticking
  expect(await first.result()).toBe('done')
  expect(await worker.tick()).toBe(0)
  const claim = await engine.executions.claimById({ executionId: granted.id, grantId, ...other })
  expect(claim.executionId).toBe(granted.id)
})
