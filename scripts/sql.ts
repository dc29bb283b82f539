// Writes statements/: every statement as it is sent, with the borders of the fragments that it is assembled from, to
// read and to review. With --check it writes nothing, and fails when a file is not up to date.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { assemble } from './sql/fragments.ts'
import { pageOf } from './sql/page.ts'

const FOLDER = new URL('../statements/', import.meta.url)
const NOTE = '-- Made by `npm run sql`; do not edit.\n'

const { statements, fragments } = await assemble()
const current = new Map(statements.map((statement) => [fileOf(statement.name), NOTE + pageOf(statement, fragments)]))
const committed = await readCommitted()
const changed = [...new Set([...current.keys(), ...committed.keys()])]
  .filter((file) => current.get(file) !== committed.get(file))
  .sort()

if (!process.argv.includes('--check')) {
  for (const file of changed) await write(file, current.get(file))
} else if (changed.length > 0) {
  const list = changed.map((file) => `  ${file}`).join('\n')
  console.error(`these files of statements/ are not what the source makes; run npm run sql\n${list}`)
  process.exitCode = 1
}

/** `execution.claim-by-id.read` is in `execution/claim-by-id.read.sql`. */
function fileOf(name: string): string {
  return `${name.replace('.', '/')}.sql`
}

async function readCommitted(): Promise<Map<string, string>> {
  await mkdir(FOLDER, { recursive: true })
  const names = await readdir(FOLDER, { recursive: true })
  const files = names.map((name) => name.replaceAll('\\', '/')).filter((name) => name.endsWith('.sql'))
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(new URL(file, FOLDER), 'utf8')] as const)),
  )
}

async function write(file: string, text: string | undefined): Promise<void> {
  const path = new URL(file, FOLDER)
  if (text === undefined) return rm(path)
  await mkdir(new URL('.', path), { recursive: true })
  await writeFile(path, text)
}
