// Writes schema.sql: the whole schema after all migrations. With --check it writes nothing, and fails when the file is
// not up to date.
import { readFile, writeFile } from 'node:fs/promises'
import { dumpSchema } from '../src/sql/dump.ts'
import { migrate } from '../src/sql/migrate.ts'
import { migrations } from '../src/sql/migrations/all.ts'
import { openEmbedded } from '../src/sql/pglite.ts'

const FILE = new URL('../schema.sql', import.meta.url)
const HEADER =
  '-- The schema as the migrations leave it, to read and to review. Made by `npm run schema`; do not edit.\n\n'

const current = HEADER + (await dumpMigrated())
if (!process.argv.includes('--check')) {
  await writeFile(FILE, current)
} else {
  const committed = await readFile(FILE, 'utf8').catch(() => '')
  if (committed !== current) {
    console.error(`schema.sql is not what the migrations make; run npm run schema\n\n${difference(committed, current)}`)
    process.exitCode = 1
  }
}

async function dumpMigrated(): Promise<string> {
  const sql = await openEmbedded({ directory: null, schema: 'flowfabric' })
  try {
    await migrate(sql, migrations, { mode: true, codeVersion: newestCode() })
    return await dumpSchema(sql)
  } finally {
    await sql.close()
  }
}

function newestCode(): string {
  const last = migrations.at(-1)
  if (last === undefined) throw new Error('there are no migrations')
  return last.oldestCode
}

/** Line by line, with three lines around each change. */
function difference(before: string, after: string): string {
  const lines = compareLines(before.split('\n'), after.split('\n'))
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - 3), index + 4).some((line) => line[0] !== ' ')
  return lines.filter((_, index) => isNear(index)).join('\n')
}

function compareLines(old: readonly string[], now: readonly string[]): string[] {
  // common[i][j]: the longest common sequence of old from i and now from j.
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1))
  const commonAt = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const isSame = old[i] === now[j]
      common[i]![j] = isSame ? commonAt(i + 1, j + 1) + 1 : Math.max(commonAt(i + 1, j), commonAt(i, j + 1))
    }
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      lines.push(`  ${old[i]}`)
      i += 1
      j += 1
    } else if (j >= now.length || (i < old.length && commonAt(i + 1, j) >= commonAt(i, j + 1))) {
      lines.push(`- ${old[i]}`)
      i += 1
    } else {
      lines.push(`+ ${now[j]}`)
      j += 1
    }
  }
  return lines
}
