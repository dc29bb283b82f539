// The pages for contributors name files, tables and tests. A rename that forgets a page fails here.
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const internals = (await readdir(join(root, 'docs/internals'))).map((name) => `docs/internals/${name}`)
const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...internals]

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
const exists = (path: string): Promise<boolean> =>
  access(join(root, path)).then(
    () => true,
    () => false,
  )

/** Pages that a script writes carry this mark. */
const isMade = async (page: string): Promise<boolean> => (await read(page)).includes('<!-- Made from')
const made = await Promise.all(internals.map(isMade))
const written = internals.filter((_, index) => !made[index])

const pathForm = /(?<![\w/.-])(?:src|test|docs|scripts|examples|bench|statements)\/[\w./-]*\w/g

test.each(pages)('every file that %s names exists', async (page) => {
  const paths = [...new Set((await read(page)).match(pathForm))]
  const found = await Promise.all(paths.map(exists))
  expect(paths.filter((_, index) => !found[index])).toEqual([])
})

test.each(pages)('every table, index and function that %s names is in the schema', async (page) => {
  const [text, schema] = [await read(page), await read('schema.sql')]
  const names = new Set(text.match(/\bff_[a-z_]*[a-z]/g))
  expect([...names].filter((name) => !new RegExp(`\\b${name}\\b`).test(schema))).toEqual([])
})

test('ARCHITECTURE.md has every table of the schema, and links every page about internals', async () => {
  const [text, schema] = [await read('ARCHITECTURE.md'), await read('schema.sql')]
  const tables = [...schema.matchAll(/^create table flowfabric\.(ff_[a-z_]*[a-z]) /gm)].map((match) => match[1]!)
  expect(tables.length).toBeGreaterThan(30)
  expect(tables.filter((table) => !text.includes(`\`${table}\``))).toEqual([])
  expect(written.filter((page) => !text.includes(`](${page})`))).toEqual([])
})

test('every page about internals that people write ends with the tests that prove it', async () => {
  expect(written.length).toBeGreaterThan(10)
  for (const page of written) expect((await read(page)).trimEnd(), page).toMatch(/\n\nTests: (`test\/[^`]+`[,.]\s?)+$/)
})

test('the architecture is read within 250 lines, and the four files to read first within 500', async () => {
  const text = await read('ARCHITECTURE.md')
  expect(lineCount(text)).toBeLessThanOrEqual(250)
  const section = text.split('## Four files to read first')[1]!.split('\n## ')[0]!
  const files = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]!)
  expect(files).toHaveLength(4)
  const texts = await Promise.all(files.map(read))
  expect(texts.map(lineCount).reduce((sum, count) => sum + count)).toBeLessThan(500)
})

function lineCount(text: string): number {
  return text.trimEnd().split('\n').length
}
