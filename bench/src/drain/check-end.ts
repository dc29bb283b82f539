// Checks the database after a drain: each execution has ended once, with one attempt, one lease and one completion
// event; nothing is ready or leased; and every invariant of the engine holds.
import { checkInvariants } from '../../../src/engine/invariants.ts'
import { openEmbedded } from '../../../src/sql/pglite.ts'
import { scanningAllowed } from '../../../src/sql/plan-settings.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { statement } from '../../../src/sql/statement.ts'

// Each line is a violation, and how often it occurs.
const countFaults = statement({
  name: 'bench.count-faults',
  params: {},
  row: { fault: 'text', fault_count: 'int8' },
  text: `
with ended as materialized (
  select e.execution_id, e.terminal_outcome,
    (select count(*) from flowfabric.ff_completion_event c where c.execution_id = e.execution_id) as completion_count,
    (select count(*) from flowfabric.ff_attempt a where a.execution_id = e.execution_id and a.outcome = 'success')
      as success_count,
    (select count(*) from flowfabric.ff_attempt a where a.execution_id = e.execution_id) as attempt_count,
    (select count(*) from flowfabric.ff_event v where v.execution_id = e.execution_id and v.event_type = 'acquired')
      as acquired_count
  from flowfabric.ff_exec_core e
)
select 'without success' as fault, count(*) as fault_count from ended where terminal_outcome <> 'success'
union all
select 'without exactly one completion event', count(*) from ended where completion_count <> 1
union all
select 'without exactly one lease taken', count(*) from ended where acquired_count <> 1
union all
select 'without exactly one attempt, ended with success', count(*) from ended
where attempt_count <> 1 or success_count <> 1
union all
select 'still ready', count(*) from flowfabric.ff_ready
union all
select 'still leased', count(*) from flowfabric.ff_lease`,
})

export async function checkEnd(url: string): Promise<void> {
  const sql = await open(url)
  const faults = await sql.transaction(async (tx) => {
    await tx.script(scanningAllowed)
    return tx.query(countFaults, {})
  })
  const violations = await checkInvariants(sql)
  await sql.close()
  const found = faults.filter(({ fault_count }) => fault_count > 0)
  if (found.length === 0 && violations.length === 0) return
  throw new Error(`the drain's end is not whole: ${JSON.stringify({ executions: found, violations }, null, 2)}`)
}

function open(url: string): Promise<Sql> {
  const schema = 'flowfabric'
  if (url.startsWith('file:')) return openEmbedded({ directory: url.slice('file:'.length), schema })
  return openPostgres({ url, schema })
}
