// Opens an embedded directory, writes rows and reports them, until it is killed.
import { openEmbedded } from '../../src/sql/pglite.ts'
import { statement } from '../../src/sql/statement.ts'

const INSERT = statement({
  name: 'child.insert',
  params: { id: 'int8' },
  row: { id: 'int8' },
  text: 'insert into public.kept (id) values ($1) returning id',
})

const [directory = ''] = process.argv.slice(2)
const sql = await openEmbedded({ directory, schema: 'flowfabric' })
await sql.script('create table public.kept (id bigint primary key)')
for (let id = 1; ; id += 1) {
  const [row] = await sql.query(INSERT, { id })
  process.send?.(row)
}
