// tsx scripts/image.ts [folder]
//
// Writes the files of a new embedded database, with the schema, to dist/sql, where `connect` finds them. npm runs it
// before it packs.
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { codeVersion } from '../src/model/version.ts'
import { saveImage } from '../src/sql/embedded-image.ts'
import { migrate } from '../src/sql/migrate.ts'
import { migrations } from '../src/sql/migrations/all.ts'
import { openEmbedded } from '../src/sql/pglite.ts'

const sql = await openEmbedded({ directory: null, schema: 'flowfabric' })
await migrate(sql, migrations, { mode: true, codeVersion })
const folder = process.argv[2] ?? fileURLToPath(new URL('../dist/sql', import.meta.url))
const file = await saveImage(sql.pglite, migrations, folder)
await sql.close()
console.error(`${file}: ${Math.ceil((await stat(file)).size / 1024)} KiB`)
