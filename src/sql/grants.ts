// The rights of a role that uses a schema which another role owns and migrates.
import { quoteIdentifier } from './qualify.ts'

/** One statement on each line. docs/deployment.md lists them for the schema `flowfabric` and a role `app`. */
export function grantsOn(schema: string, role: string): string {
  const [named, grantee] = [quoteIdentifier(schema), quoteIdentifier(role)]
  return `grant usage on schema ${named} to ${grantee};
grant select, insert, update, delete on all tables in schema ${named} to ${grantee};
revoke insert, update, delete on ${named}.ff_migration from ${grantee};
grant usage, select on all sequences in schema ${named} to ${grantee};
grant execute on all functions in schema ${named} to ${grantee};
`
}
