// Whether the event log can grow: it is written in blocks, and a write fails when its block is missing and cannot be
// created.
import { statement } from '../../sql/statement.ts'
import { readLog } from '../kernel/log-block.ts'
import { finding, type Finding } from './finding.ts'
import { readOnly, type CheckDeps } from './read-only.ts'

// The functions run with the rights of their owner, which must own the log too.
const readRights = statement({
  name: 'health.log-rights',
  params: {},
  row: { role: 'text', may_make: 'bool', may_drop: 'bool' },
  text: `
select current_user::text as role,
  has_function_privilege(make.oid, 'execute') and pg_has_role(make.proowner, log.relowner, 'usage') as may_make,
  has_function_privilege(drop.oid, 'execute') and pg_has_role(drop.proowner, log.relowner, 'usage') as may_drop
from pg_class log
join pg_proc make on make.oid = 'flowfabric.ff_make_event_block(bigint, bigint)'::regprocedure
join pg_proc drop on drop.oid = 'flowfabric.ff_drop_event_block(bigint)'::regprocedure
where log.oid = 'flowfabric.ff_event'::regclass`,
})

// The duty creates the next block when the current one is half full.
const nearlyFull = 0.75

export async function findLogBlocks(deps: CheckDeps): Promise<Finding[]> {
  const [log, [rights]] = await readOnly(
    deps,
    async (tx) => [await readLog(tx), await tx.query(readRights, {})] as const,
  )
  const { role, may_make, may_drop } = rights!
  const last = log.blocks.at(-1)
  const left = Math.max(0, (last?.end ?? log.nextId) - log.nextId)
  const room = `there is room for ${left} more`
  if (!may_make || !may_drop) {
    const what = may_make
      ? 'drop old blocks of the event log'
      : `create the next block of the event log, and ${room} events`
    const next = `As the owner of the tables, run: flowfabric migrate --grant-to ${JSON.stringify(role)}.`
    return [finding('event log', 'trouble', `Role ${role} lacks the permission to ${what}.`, { next })]
  }
  const size = last === undefined ? 0 : last.end - last.first
  if (left > size * (1 - nearlyFull)) return [finding('event log', 'fine', 'The event log has room to grow.')]
  return [
    finding(
      'event log',
      deps.sql.kind === 'embedded' ? 'note' : 'trouble',
      `The event log's last block is nearly full: ${room} events, and the next block does not exist.`,
      {
        next: 'Start a worker or a server: its duty log-blocks creates the block. Otherwise the next write creates it.',
      },
    ),
  ]
}
