import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { fire } from './scheduled.ts'

const worker = { workerId: 'mailer', workerInstanceId: 'mailer-1', lanes: ['mail'] }
const mail = { kind: 'mail', lane: 'mail', policy: { retry: { attempts: 4 } }, tags: { team: 'post' } }

test('a schedule that was put before its task was registered fires with the task, and later with each newer one', async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put({ scheduleId: 's', kind: 'mail', every: '1h', overlap: 'allow', tags: { own: 'tag' } })
  const fired = async () => {
    await clock.advance('1h')
    await fire(sql, { processed: 1 })
    const [newest] = (await engine.executions.list({ kind: 'mail' })).executions
    return engine.executions.describe(newest!.executionId)
  }
  expect(await fired()).toMatchObject({ lane: 'default', policy: null, tags: { own: 'tag' } })
  await engine.workers.register({ ...worker, tasks: [{ ...mail, deadline: '5m' }] })
  const second = await fired()
  const tags = { own: 'tag', team: 'post' }
  expect(second).toMatchObject({ lane: 'mail', policy: { retry: { attempts: 4 } }, tags })
  expect(second!.deadlineAt! - second!.createdAt).toBe(300_000)
  await engine.workers.register({ ...worker, tasks: [{ kind: 'mail', policy: { retry: { attempts: 2 } } }] })
  expect(await fired()).toMatchObject({ lane: 'default', policy: { retry: { attempts: 2 } }, tags: { own: 'tag' } })
  const again = { scheduleId: 's', kind: 'mail', every: '1h', overlap: 'allow', tags: { own: 'tag' } } as const
  expect(await engine.schedules.put(again)).toMatchObject({ kind: 'unchanged' })
})
