import { createRequire } from 'node:module'
import { migrate } from '../../src/sql/migrate.ts'
import { migrations } from '../../src/sql/migrations/all.ts'
import type { Sql } from '../../src/sql/sql.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** The schema that `connect` creates. */
export async function migrateAll(sql: Sql): Promise<void> {
  await migrate(sql, migrations, { mode: true, codeVersion: version })
}
