import { expect, test } from 'vitest'
import { parseExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'

const leaseId = '0190a000-0000-7000-8000-000000000001'

test.each(['complete', 'fail', 'release', 'cancel'] as const)(
  '%s draws the id of its event after a renewal under way has drawn its own',
  async (verb) => {
    const { engine, sql, url } = await setup()
    const executionId = await factory(sql).active({ leaseId })
    const { uuid } = parseExecutionId(executionId)
    const renewal = await hold(url, 'select from flowfabric.ff_lease where execution_id = $1 for no key update', [uuid])
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
    expect(await rows(sql, 'select is_called from flowfabric.ff_event_id')).toEqual([{ is_called: false }])
    await renewal.release()
    await done
  },
)
