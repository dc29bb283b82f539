// Migrates the given database, with the real migrations or with the test's own, and reports when it is done.
import { migrate } from '../../src/sql/migrate.ts'
import { migrations } from '../../src/sql/migrations/all.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { withIndex } from './migrations.ts'

const [url = '', which = ''] = process.argv.slice(2)
const sql = await openPostgres({ url, schema: 'flowfabric' })
process.send?.({ ready: true })
process.once('message', () => {
  void run()
})

async function run(): Promise<void> {
  await migrate(sql, which === 'real' ? migrations : withIndex, { mode: true, codeVersion: '99.0.0' })
  process.send?.({ done: true })
  await sql.close()
  process.disconnect()
}
