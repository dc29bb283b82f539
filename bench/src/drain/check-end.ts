// What a drain of executions leaves behind, whole: each has ended once, with one attempt, one lease taken and one completion
// event; nothing is ready or leased; and every invariant of the engine holds.
import pg from 'pg'
import { refuseBrokenInvariants } from '../pages/load.ts'

// Each line is a way in which it would not be whole, and how often that happened.
const faults = `
select 'executions that did not succeed' as fault, count(*)::int as count
from flowfabric.ff_exec_core
where terminal_outcome <> 'success'
union all
select 'executions without exactly one completion event', count(*)::int
from flowfabric.ff_exec_core e
where (select count(*) from flowfabric.ff_completion_event c where c.execution_id = e.execution_id) <> 1
union all
select 'executions without exactly one lease taken', count(*)::int
from flowfabric.ff_exec_core e
where (select count(*) from flowfabric.ff_event a where a.execution_id = e.execution_id and a.event_type = 'acquired') <> 1
union all
select 'executions without exactly one attempt, ended with success', count(*)::int
from flowfabric.ff_exec_core e
where (select array_agg(a.outcome::text) from flowfabric.ff_attempt a where a.execution_id = e.execution_id)
  is distinct from '{success}'::text[]
union all
select 'ready rows left', count(*)::int from flowfabric.ff_ready
union all
select 'leases left', count(*)::int from flowfabric.ff_lease`

export async function checkEnd(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ fault: string; count: number }>(faults)
  await client.end()
  const found = rows.filter(({ count }) => count > 0)
  if (found.length > 0) throw new Error(`the drain's end is not whole: ${JSON.stringify(found)}`)
  await refuseBrokenInvariants(url, 'flowfabric')
}
