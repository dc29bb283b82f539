// Writes a TypeScript module next to each migration in src/sql/migrations: the same text as a string. With --check it
// writes nothing, and fails when a module is not up to date.
//
// The .sql files are the source, for editors and psql. The migrator loads the modules: a program that was bundled into
// one file could not find the .sql files, and the compiler would not copy them to dist.
import { readdir, readFile, writeFile } from 'node:fs/promises'

const FOLDER = new URL('../src/sql/migrations/', import.meta.url)

const isCheck = process.argv.includes('--check')
const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql'))
for (const name of names.toSorted()) {
  const file = new URL(name.replace(/\.sql$/, '.ts'), FOLDER)
  const current = moduleOf(name, await readFile(new URL(name, FOLDER), 'utf8'))
  if (!isCheck) await writeFile(file, current)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== current) {
    console.error(`the module of src/sql/migrations/${name} is out of date; run npm run schema`)
    process.exitCode = 1
  }
}

function moduleOf(name: string, text: string): string {
  const escaped = text.replaceAll('\r\n', '\n').replace(/[`\\]|\$\{/g, '\\$&')
  return `// Made from ${name} by npm run schema; do not edit.\nexport const text = \`${escaped}\`\n`
}
