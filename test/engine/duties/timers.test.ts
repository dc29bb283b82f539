// A duty watches every column with a future time. The index that begins with the column reveals it.
import { expect, inject, test } from 'vitest'
import { allDuties } from '../../../src/engine/duties/all.ts'
import { rows } from '../../support/raw.ts'
import { setup } from '../../support/setup.ts'

const leadingTimes = `
select distinct concat(t.relname, '.', a.attname) as name
from pg_index i
join pg_class t on t.oid = i.indrelid
join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
where t.relnamespace = 'flowfabric'::regnamespace and a.attname ~ '_ms$'`

// Times that are past.
const watchedByNobody = new Set([
  'ff_exec_input.created_at_ms',
  'ff_flow_core.created_at_ms',
  'ff_flow_core.ended_at_ms',
])

const timers = [
  'ff_exec_core.attempt_deadline_at_ms',
  'ff_exec_core.cancel_deadline_at_ms',
  'ff_exec_core.deadline_at_ms',
  'ff_exec_core.delay_until_ms',
  'ff_grant.expires_at_ms',
  'ff_idempotency_key.expires_at_ms',
  'ff_lease.expires_at_ms',
  'ff_schedule.next_fire_at_ms',
  'ff_suspension_current.timeout_at_ms',
  'ff_suspension_current.wake_at_ms',
  'ff_waitpoint_hmac.expires_at_ms',
  'ff_waitpoint_pending.expires_at_ms',
  'ff_worker.expires_at_ms',
]

test('every timer of the schema has a duty, and every duty a timer of the schema', async () => {
  const { sql } = await setup()
  const found = (await rows(sql, leadingTimes)).map((row) => row['name'] as string)
  const watched = allDuties(inject('backend')).flatMap(({ watch }) => watch?.column ?? [])
  expect(found.filter((name) => !watchedByNobody.has(name)).toSorted()).toEqual([...new Set(watched)].toSorted())
  expect(watched).toEqual(expect.arrayContaining(timers))
})

test('no two duties share a name', () => {
  const names = allDuties(inject('backend')).map((duty) => duty.name)
  expect(new Set(names).size).toBe(names.length)
})
