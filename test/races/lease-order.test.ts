import { expect, test } from 'vitest'
import { parseExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'
import { isEventIdDrawn } from '../support/event-log.ts'

const leaseId = '0190a000-0000-7000-8000-000000000001'

test.each(['complete', 'fail', 'release', 'cancel'] as const)(
  '%s draws the id of its event after a renewal under way has drawn its own',
  async (verb) => {
    const { engine, sql, url } = await setup()
    const executionId = await factory(sql).active({ leaseId })
    const { uuid } = parseExecutionId(executionId)
    const renewal = await hold(url, stored.leases.lockingRows('no key update', 'execution_id = $1'), [uuid])
    const fence = { executionId, leaseId, leaseEpoch: 1 }
    const { executions } = engine
    const verbs = {
      complete: () => executions.complete(fence),
      fail: () => executions.fail({ ...fence, reason: 'broke' }),
      release: () => executions.release(fence),
      cancel: () => executions.cancel({ executionId }),
    }
    const done = verbs[verb]()
    await renewal.waiters(1)
    expect(await isEventIdDrawn(sql)).toBe(false)
    await renewal.release()
    await done
  },
)
