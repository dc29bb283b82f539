// Grants a role everything that it needs to work with the schema, and no right to change it.
import { EngineError } from '../model/errors.ts'
import { grantsOn } from '../sql/grants.ts'
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'

// Read again after the grants: Postgres grants what it can, and only warns about the rest.
const readRole = statement({
  name: 'grant.role',
  params: { role: 'text' },
  row: { is_granted: 'bool' },
  text: `
select has_function_privilege(r.oid, 'flowfabric.ff_make_event_block(bigint, bigint)', 'execute')
  and has_table_privilege(r.oid, 'flowfabric.ff_event', 'insert') as is_granted
from pg_roles r
where r.rolname = $1::text`,
})

export async function grantTo(sql: Sql, role: string): Promise<void> {
  const [found] = await sql.query(readRole, { role })
  if (found === undefined) {
    const message = `grantTo names a role that does not exist: ${JSON.stringify(role)}; create it first, with create role`
    throw new EngineError('invalid_input', message, { field: 'grantTo' })
  }
  await sql.transaction((tx) => tx.script(grantsOn(sql.schema, role)))
  const [after] = await sql.query(readRole, { role })
  if (after!.is_granted) return
  const message = `this role may not grant rights on schema ${sql.schema}; connect as its owner`
  throw new EngineError('database_right_missing', message, {})
}
